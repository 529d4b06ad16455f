r"""The objective: nats that communities save in the description of a graph.

With :math:`E_c` edges inside, degrees :math:`K_c` and :math:`N_c` nodes of community c, with
:math:`P_c = K_c^2 / 4m` edges expected inside by degrees alone, and the same outside,

.. math:: \Phi = \sum_c \Bigl[E_c \ln\frac{E_c}{P_c} - E_c + P_c\Bigr]_{E_c > P_c}
    + \Bigl[E_{out} \ln\frac{E_{out}}{P_{out}} - E_{out} + P_{out}\Bigr]_{E_{out} < P_{out}}
    - \sum_c \ln\Bigl(\min\bigl(\tbinom{N_c}{2}, m\bigr) + 1\Bigr)
    - \ln\frac{n!}{\prod_c N_c!} - \ln\binom{n-1}{k-1} + \ln k!

It is derived in docs/theory.md. One community saves 0. Each component of a graph is described by
itself.

The edges of real graphs are correlated. The *dispersion* is their number divided by the number of
independent edges. A grid, a small world, and points that are linked to those nearby have no
communities, but any partition into compact patches saves many nats. Two numbers distinguish such
*patches of a continuum* from communities.

*Contiguity*: a patch meets each neighboring patch along a border, so that its nodes on one side of
it are linked to one neighbor and those on the other side to another. Take all pairs of links that
leave a community r from two nodes that are linked to each other. Of :math:`N_r` pairs,
:math:`J_r` lead to the same other community. In a block model, degree-corrected or not, where a
link leads is independent of the links inside, and given all :math:`e_{rs}` links to the others s

.. math:: E[J_r] = N_r \sum_s \frac{e_{rs} (e_{rs} - 1)}{O_r (O_r - 1)}, \qquad
    O_r = \sum_s e_{rs},

so that the contiguity :math:`\sum_r J_r / \sum_r E[J_r]` is 1. If each community consisted of two
parts of the same size that are linked to different others, it would be 2.

*Separation*: communities are merged in pairs, the best first. If there were no links between those
that are merged, that would cost some nats; the links between them offset a part of this cost. The
separation is the share that remains: 1 for communities without links between them. Among patches of
a continuum it is small, as there a partition into larger patches is nearly as good.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kgroups._csr import row_sums
from kgroups._progress import new_control, run_kernel
from kgroups._types import Floats, Indices, Ints
from kgroups.search import _search_nb as kernels
from kgroups.search.levels import Level, coarsened, places, singletons

LEAST_NATS = 3.0
"""Nats that super-groups must save."""
GROUPS_PER_MERGE = 50
"""A round merges at least one group in this many, so that rounds stay few."""
# Up to this many factorials are kept between calls.
_KEPT_FACTORIALS = 10_000
_NONE = np.zeros(0)
# Standard deviations by which links must be more uneven, or meet more often, than random draws.
_SURE = 3.0
MOST_REPEATED = 0.1
"""Share of links that would repeat a pair, above which links are not taken as counts.

On planted graphs of 150 to 800 nodes, with even and uneven degrees, belief propagation, which takes
links as counts, recovers more communities below this share, and on average fewer above it.
"""
# Least number of nodes of a group in which triangles are counted.
_LEAST_GROUP = 4
# Degrees above the first number are grouped in classes of this ratio.
_EXACT_DEGREES, _CLASS_RATIO = 8, 1.15
# The fit ends when no degree is off by more than this share, or after the second number of rounds.
_FITTED, _MAX_ROUNDS = 1e-3, 16
# Keeps the equations of a round regular.
_LEAST_SLOPE = 1e-3
_DIGITS = 6
# Entries of the tables of one batch; bounds the temporary arrays.
_BATCH_ENTRIES = 1 << 20
LEAST_CONTIGUITY = 1.5
"""Patches exceed this contiguity: it is closer to that of two parts with different neighbors, 2.

Contiguity is 1 on block models of any kind, so that the number matters for real networks only.
"""
MOST_SEPARATION = 0.5
"""Patches are below this separation: links between merged communities offset most of the cost."""


class Objective(NamedTuple):
    """Code lengths of the components of a graph, as kernels take them."""

    # Sum of all weights of each component, m.
    edges: Floats
    # For each component, from ``tables`` on: ln N! less the cost of a density for each size N of a
    # community, and minus the part of the cost of labels that depends on their number only.
    of_size: Floats
    of_number: Floats
    tables: Ints
    # Logarithms of factorials.
    factorial: Floats
    # What the weights of the level have been divided by.
    dispersion: float = 1.0

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats, Ints]:
        """What kernels take that compute nats."""
        return self[:4]

    def nats(self, saved: Floats) -> Floats:
        """Return the nats of the description in what partitions save, NaN where that is no nats."""
        return saved

    def divisible(self, level: Level) -> Ints:
        """Return the components with more than one cycle; trees and single cycles save nothing."""
        return np.flatnonzero(level.entries >= 2 * (level.sizes + 1))

    @classmethod
    def of(cls, level: Level, dispersion: float = 1.0) -> "Objective":
        """Return the code lengths of the components of a finest level.

        Its weights have been divided by the ``dispersion``, which does not change costs.
        """
        owner = np.arange(level.sizes.size).repeat(level.sizes)
        strength = np.bincount(owner, level.strength, minlength=level.sizes.size)
        return cls.of_sizes(level.sizes, 0.5 * strength.astype(float, copy=False), dispersion)

    @classmethod
    def of_sizes(cls, sizes: Ints, edges: Floats, dispersion: float = 1.0) -> "Objective":
        """Return the code lengths of components from their nodes and sums of weights."""
        parts = sizes.size
        firsts = np.concatenate([[0], np.cumsum(sizes[:-1])]) if parts else np.zeros(0, int)
        tables = firsts + 2 * np.arange(parts)
        factorial = log_factorials(int(sizes.max(initial=0)) + 2)
        # One number instead of an array for a single component, which may have many nodes.
        owner = 0 if parts == 1 else np.arange(parts).repeat(sizes + 2)
        size = np.arange(int((sizes + 2).sum())) - tables[owner]
        logs = 0.5 * size
        logs *= size - 1.0
        logs = np.minimum(logs, (dispersion * edges)[owner], out=logs)
        logs += 1.0
        of_size = factorial[size] - np.log(logs, out=logs)
        n = sizes[owner]
        k = np.minimum(np.maximum(size, 1), n)
        del size, logs
        of_number = factorial[k - 1] + factorial[n - k] - factorial[n - 1]
        of_number += factorial[k] - factorial[n]
        # One community saves nothing.
        of_number[tables + 1] = -of_size[tables + sizes]
        return cls(edges, of_size, of_number, tables, factorial, dispersion)


def log_factorials(count: int) -> Floats:
    """Return the logarithms of as many factorials, from 0! on."""
    return _new_log_factorials(count) if count > _KEPT_FACTORIALS else _kept_log_factorials(count)


def _new_log_factorials(count: int) -> Floats:
    return np.concatenate([np.zeros(2), np.cumsum(np.log(np.arange(2, count)))])


_kept_log_factorials = lru_cache(maxsize=64)(_new_log_factorials)


def savings(E: Floats, P: Floats, sign: float) -> Floats:
    """Return the nats that each number of edges saves, as the kernels' ``saving`` does."""
    counted, some = (sign * (E - P) > 0.0) & (P > 0.0), E > 0.0
    ratio = np.where(some, E, 1.0) / np.where(P > 0.0, P, 1.0)
    return np.where(counted, np.where(some, E * np.log(ratio) - E + P, P), 0.0)


class Totals(NamedTuple):
    """Weights inside, strength and nodes of the groups of all components, one after another."""

    E: Floats
    K: Floats
    N: Ints
    # Where the groups of each component start, and their number.
    firsts: Ints
    # Sums of E, K and squared K over the groups of each component.
    sums: Floats
    # Nats that the groups of each component save.
    saved: Floats


def totals(
    level: Level, z: Indices, k: Ints, which: Ints, objective: Objective | None = None
) -> Totals:
    """Add up the groups of labels in some components, and by an objective what they save."""
    firsts = places(k, which)
    groups = int(firsts[-1])
    code = (_NONE, _NONE, _NONE, firsts) if objective is None else objective.arrays
    E, K, N = np.zeros(groups), np.zeros(groups), np.zeros(groups, dtype=np.int64)
    found = Totals(E, K, N, firsts, np.zeros((k.size, 3)), np.zeros(k.size))
    arguments = *level, *code, which, z, firsts, E, K, N, found.sums, found.saved, new_control()
    run_kernel(kernels.describe, len(level.indices), *arguments)
    return found


def nats_saved(
    level: Level,
    z: Indices,
    k: Ints,
    objective: Objective | None = None,
    which: Ints | None = None,
) -> Floats:
    """Return the nats that labels save in the description of components, by default of all."""
    which = np.arange(k.size) if which is None else which
    objective = Objective.of(level) if objective is None else objective
    return totals(level, z.astype(np.int32, copy=False), k, which, objective).saved


def best_partners(groups: Level, objective: Objective, which: Ints) -> tuple[Floats, Indices]:
    """Return the gain of each group's best merge, without the cost of a density, and its partner.

    Groups without links have no partner, -1, and gain -inf.
    """
    n = groups.n
    own, gain, partner = np.empty(n), np.full(n, -np.inf), np.full(n, -1, dtype=np.int32)
    edges, factorial = objective.edges, objective.factorial
    kernels.best_partners(*groups, edges, factorial, which, own, gain, partner)
    return gain, partner


def merged_down(
    groups: Level, objective: Objective, which: Ints, target: Ints, control: Ints
) -> tuple[Indices, Ints]:
    """Merge units with their best partners until ``target`` are left; return labels and numbers.

    Each round makes half of the merges, so that later ones choose among the new groups.
    """
    label, k, active = singletons(groups), groups.sizes, which
    component = np.repeat(np.arange(k.size), k)
    while True:
        active = active[k[active] > target[active]]
        if not active.size:
            return label, k
        n = groups.n
        gain, partner = best_partners(groups, objective, active)
        more = k - target
        most = np.maximum((more + 1) // 2, np.minimum(more, k // GROUPS_PER_MERGE))
        owner = np.repeat(np.arange(k.size), groups.sizes)
        order = np.lexsort((-gain, owner))
        into, fewer = np.zeros(n, dtype=np.int32), np.zeros_like(k)
        work = groups.scratch.work
        kernels.merge(order, groups.offsets, active, partner, most, into, fewer, work)
        # A component in which nothing is left to merge is done.
        active = active[fewer[active] < k[active]]
        if not active.size:
            return label, k
        merging = np.zeros(k.size, dtype=np.bool_)
        merging[active] = True
        moved = merging[component]
        starts = groups.offsets[component[moved]]
        label[moved] = into[starts + label[moved]]
        k = k.copy()
        k[active] = fewer[active]
        groups = coarsened(groups, into, k, active, control)


class Groups(NamedTuple):
    """Groups of some components of a level, numbered consecutively."""

    level: Level
    # The graph of groups.
    top: Level
    # The group of each node, and the nodes that take part, by groups.
    group: Indices
    order: Ints

    @classmethod
    def of(cls, level: Level, z: Ints, k: Ints, which: Ints) -> "Groups":
        """Return the groups of labels that start from 0 in each component."""
        z = z.astype(np.int32, copy=False)
        top = coarsened(level, z, k, which, new_control())
        group = (np.repeat(top.offsets[:-1], level.sizes) + z).astype(np.int32)
        chosen = np.flatnonzero(level.mask(which))
        return cls(level, top, group, chosen[np.argsort(group[chosen], kind="stable")])

    @classmethod
    def numbered(cls, level: Level, group: Indices, k: int, order: Ints) -> "Groups":
        """Return the ``k`` groups of a level of one component, of which some nodes take part."""
        one = np.zeros(1, dtype=np.int64)
        top = coarsened(level, group, np.array([k]), one, new_control())
        return cls(level, top, group, order)


def dispersion_of(level: Level, z: Ints, k: Ints, which: Ints) -> float:
    """Return the dispersion of some components of a graph, given communities of each.

    It is 1 where links between groups are no more uneven than chance allows, which includes fewer
    than three groups, and in dense graphs, where random draws would link pairs more than once.
    """
    which = which[k[which] > 2]
    if not which.size or repeated_links(level, which) > MOST_REPEATED:
        return 1.0
    return dispersion_of_groups(Groups.of(level, z, k, which))


def dispersion_of_groups(groups: Groups) -> float:
    """Return the dispersion that the links of groups show."""
    statistic, expected, freedom = pearson(groups)
    least = expected * (1.0 + _SURE * math.sqrt(2.0 / max(freedom, 1.0)))
    if not (expected > 0.0 and statistic > least):
        return 1.0
    # Rounded, so that the last digits of a linear solver do not matter.
    return round(statistic / expected / (1.0 - closed_share(groups)), _DIGITS)


def repeated_links(level: Level, which: Ints | None = None) -> float:
    """Return the share of links that would repeat a pair if they were drawn by degrees alone.

    Nodes i and j expect d_i d_j / 2m links. Weights are counts of links, which may repeat.
    """
    if np.any(level.data != 1.0):
        return 0.0
    parts = level.sizes.size
    component = np.repeat(np.arange(parts), level.sizes)
    d = np.bincount(component, level.strength, minlength=parts)
    squares = np.bincount(component, np.square(level.strength), minlength=parts)
    which = np.arange(parts) if which is None else which
    repeated = np.square(squares[which]) / (2.0 * np.maximum(np.square(d[which]), 1.0))
    return float(repeated.sum() / max(d[which].sum(), 1.0))


def pearson(groups: Groups) -> tuple[float, float, float]:
    """Return Pearson's statistic of links between groups, its expectation, and its freedom.

    For every other group but one, a node with link weights w adds sum(w^2) / sum(w) to the
    expectation, so that the unit of weights does not matter.
    """
    level, top, group, order = groups
    firsts = np.searchsorted(group[order], np.arange(top.n + 1))
    sums, between, link = np.zeros((top.n, 3)), np.zeros(top.n), np.zeros(top.n)
    touched = np.empty(top.n + 1, dtype=np.int32)
    arrays = level.indptr, level.indices, level.data, group, order, firsts
    links = top.indptr, top.indices, top.data
    arguments = *arrays, *links, sums, between, link, touched, new_control()
    run_kernel(kernels.unevenness, len(level.indices), *arguments)
    statistic, expected, freedom = sums.sum(axis=0).tolist()
    return statistic, expected, freedom


def closed_share(groups: Groups) -> float:
    """Return the share of two-paths inside groups that are closed beyond expectation."""
    level, top, group, order = groups
    inside, mark = np.zeros(level.n, dtype=np.int64), np.full(level.n, -1)
    found = np.zeros(top.n)
    arguments = level.indptr, level.indices, group, order, inside, found, mark, new_control()
    run_kernel(kernels.triangles, len(level.indices), *arguments)
    order = order[top.nodes[group[order]] >= _LEAST_GROUP]
    degree = inside[order]
    pairs = 0.5 * float((degree * (degree - 1)).sum())
    expected = expected_triangles(degree, group[order], top.n)
    closed = found[top.nodes >= _LEAST_GROUP].sum() - expected.sum()
    return max(0.0, 3.0 * float(closed) / pairs) if pairs > 0.0 else 0.0


def expected_triangles(degree: Ints, group: Ints, count: int) -> Floats:
    """Return the triangles that each of ``count`` groups expects from the degrees inside it.

    The model is the maximum-entropy simple graph: nodes i and j of degrees a and b are linked with
    probability p = t_a t_b / (1 + t_a t_b), where the t give each node its degree on average.
    Degrees vary there, and are fixed here: a node of degree d has d (d - 1) ordered pairs of links,
    and d² - Σ p² in the model, by which triangles are corrected at each of their nodes.
    """
    expected = np.zeros(count)
    degree, group = degree[degree > 0], group[degree > 0]
    if not degree.size:
        return expected
    above = np.log(np.maximum(degree, _EXACT_DEGREES) / _EXACT_DEGREES) / math.log(_CLASS_RATIO)
    kind = np.minimum(degree, _EXACT_DEGREES) + above.astype(np.int64)
    names, position = np.unique(group * (int(kind.max()) + 1) + kind, return_inverse=True)
    nodes = np.bincount(position).astype(float)
    mean = np.bincount(position, degree) / nodes
    owner = names // (int(kind.max()) + 1)
    groups, first, kinds = np.unique(owner, return_index=True, return_counts=True)
    order = np.argsort(kinds, kind="stable")
    start = 0
    while start < order.size:
        # Groups of about as many kinds of degrees are treated at once, in tables of one width.
        width = 1 << int(kinds[order[start]] - 1).bit_length()
        stop = start + max(
            1,
            min(
                int(np.searchsorted(kinds[order[start:]], width, side="right")),
                _BATCH_ENTRIES // (width * width),
            ),
        )
        some = order[start:stop]
        columns = np.arange(width)
        filled = columns < kinds[some, np.newaxis]
        places = np.where(filled, first[some, np.newaxis] + columns, 0)
        expected[groups[some]] = _expected(
            np.where(filled, mean[places], 0.0), np.where(filled, nodes[places], 0.0)
        )
        start = stop
    return expected


def _expected(degree: Floats, nodes: Floats) -> Floats:
    """Return the expected triangles of groups, a row each: kinds of degrees, and nodes of each."""
    p = _link_probabilities(degree, nodes)
    itself = np.arange(degree.shape[1])
    own = p[:, itself, itself]
    varying = np.square(degree) - np.einsum("gab,gb->ga", np.square(p), nodes) + np.square(own)
    fixed = degree * (degree - 1.0)
    factor = np.sqrt(fixed / np.where(varying > 0.0, varying, 1.0))
    p *= factor[:, :, np.newaxis] * factor[:, np.newaxis, :]
    own = p[:, itself, itself]
    # Ordered triples of nodes, less those in which a node occurs twice.
    counted = p * nodes[:, np.newaxis, :]
    triples = np.einsum("ga,gab,gba->g", nodes, counted @ counted, p, optimize=True)
    twice = np.einsum("ga,ga,gab,gb->g", nodes, own, np.square(p), nodes, optimize=True)
    thrice = np.einsum("ga,ga->g", nodes, own**3)
    return np.asarray((triples - 3.0 * twice + 2.0 * thrice) / 6.0)


def _link_probabilities(degree: Floats, nodes: Floats) -> Floats:
    """Return the probabilities of links between kinds of nodes that give each its degree."""
    kinds = np.arange(degree.shape[1])
    # Each node may be linked to all others of a kind; kinds without nodes fill the table.
    others = np.repeat(nodes[:, np.newaxis, :], kinds.size, axis=1)
    others[:, kinds, kinds] -= nodes > 0.0
    total = np.einsum("ga,ga->g", degree, nodes)
    log_t = np.log(np.maximum(degree, 1.0)) - 0.5 * np.log(total)[:, np.newaxis]
    for _ in range(_MAX_ROUNDS):
        p = 1.0 / (1.0 + np.exp(-(log_t[:, :, np.newaxis] + log_t[:, np.newaxis, :])))
        p *= (degree[:, :, np.newaxis] > 0.0) & (degree[:, np.newaxis, :] > 0.0)
        excess = np.einsum("gab,gab->ga", others, p) - degree
        if np.all(np.abs(excess) <= _FITTED * degree):
            break
        # Newton's method; where all pairs are linked, derivatives vanish.
        slope = others * p * (1.0 - p)
        slope[:, kinds, kinds] += slope.sum(axis=2) + _LEAST_SLOPE
        step = np.linalg.solve(slope, excess[:, :, np.newaxis])[:, :, 0]
        log_t -= np.clip(step, -1.0, 1.0)
    return np.asarray(p)


class Borders(NamedTuple):
    """Contiguity and separation of communities, and how many are patches."""

    # Number of pairs of links to the same other community, relative to chance.
    contiguity: float
    # Share of the cost of merging that links do not offset; None where it does not matter.
    separation: float | None
    # Communities that look like patches of a continuum.
    patches: int = 0


class Contiguity(NamedTuple):
    """Pairs of links from two linked nodes of a community to the same other community."""

    found: float
    # The expectation and its standard deviation, if links outside are independent of those inside.
    expected: float
    deviation: float

    @property
    def ratio(self) -> float:
        """Their number relative to the expectation; 1 where none are expected."""
        return round(self.found / self.expected, _DIGITS) if self.expected > 0.0 else 1.0

    def is_clear(self, among: int = 1) -> bool:
        """Return whether the ratio exceeds block models, and chance in the largest of many."""
        # Among many normal deviates, one beyond this is about as rare as one beyond _SURE alone.
        sure = math.sqrt(_SURE**2 + 2.0 * math.log(among))
        return self.ratio > LEAST_CONTIGUITY and self.found > self.expected + sure * self.deviation


def contiguity(
    level: Level, z: Ints, k: Ints, which: Ints, *, at_most: int | None = None
) -> list[Contiguity]:
    """Return the contiguity in each of some components, in which labels start from 0.

    Weights are ignored. Pairs of links are counted from about ``at_most`` nodes.
    """
    # One number stands for all weights.
    level = level._replace(data=np.ones(1, dtype=np.float32))
    return contiguity_of_groups(Groups.of(level, z, k, which), which, at_most=at_most)


def contiguity_of_groups(
    groups: Groups, which: Ints, *, at_most: int | None = None
) -> list[Contiguity]:
    """Return the contiguity of groups, of which no link has a weight, in each component."""
    level = groups.level
    top, group, order = groups.top, groups.group, groups.order
    outside, link = np.zeros(level.n, dtype=np.int64), np.zeros(top.n, dtype=np.int64)
    meeting, found, pairs = np.zeros(level.n), np.zeros(top.n), np.zeros(top.n)
    # Evenly from all groups; which nodes these are has nothing to do with where links lead.
    step = 1 if at_most is None else -(-order.size // at_most)
    nodes = np.ascontiguousarray(order[::step])
    arguments = level.indptr, level.indices, group, nodes, outside, meeting, found, pairs, link
    run_kernel(kernels.shared, len(level.indices) // step, *arguments, new_control())
    same, all_three, both, others = _chances(top)
    # Ordered pairs of pairs that share a link, and of those that do not.
    meets = row_sums(group[order], (outside * meeting * (meeting - 1.0))[order], top.n)
    disjoint = pairs * (pairs - 1.0) - meets
    variance = pairs * same + meets * all_three + disjoint * both - np.square(pairs * same)
    # Where all links lead to one other group there is nothing to count.
    some, parts = others > 1, top.sizes.size
    component = np.repeat(np.arange(parts), top.sizes)
    sums = [
        np.bincount(component, values * some, minlength=parts)[which]
        for values in (found, pairs * same, variance)
    ]
    deviation = np.sqrt(np.maximum(sums[2], 0.0))
    return list(map(Contiguity, sums[0].tolist(), sums[1].tolist(), deviation.tolist()))


def _chances(top: Level) -> tuple[Floats, Floats, Floats, Ints]:
    """Return how likely links of a group, drawn without replacement, are to lead to the same group.

    For each group: two links to one group; three links to one; two links to one, and two more to
    one; and how many others it is linked to.
    """
    e, others = top.data.astype(float), np.diff(top.indptr).astype(np.int64)
    rows = np.repeat(np.arange(top.n), others)

    def summed(values: Floats) -> Floats:
        return row_sums(rows, values, top.n)

    whole, two = summed(e), e * (e - 1.0)
    orders = np.cumprod([whole - taken for taken in range(4)], axis=0)
    _, of_two, of_three, of_four = np.maximum(orders, 1.0)
    same, all_three = summed(two) / of_two, summed(two * (e - 2.0)) / of_three
    both = np.square(summed(two)) - summed(np.square(two)) + summed(two * (e - 2.0) * (e - 3.0))
    return same, all_three, both / of_four, others


def separation(level: Level, objective: Objective, z: Ints, k: Ints, which: Ints) -> float:
    """Return the share of the cost of merging communities in pairs that links do not offset.

    The labels start from 0 in each of some components, which have at least three communities each.
    """
    top = coarsened(level, z.astype(np.int32, copy=False), k, which, new_control())
    return separation_of(top, objective, k, which)


def separation_of(top: Level, objective: Objective, k: Ints, which: Ints) -> float:
    """Return the separation of communities from the links between them."""
    number, half = np.zeros_like(k), np.ones_like(k)
    number[which], half[which] = k[which], (k[which] + 1) // 2
    fine = totals(top, singletons(top), number, which, objective)
    parent, left = merged_down(top, objective, which, half, new_control())
    coarse = totals(top, parent, left, which, objective)
    cost = float(fine.saved[which].sum() - coarse.saved[which].sum())
    # What the merged communities have inside without the links between them.
    owner = np.repeat(coarse.firsts[:-1], top.sizes)
    apart = row_sums(owner + parent, fine.E, coarse.E.size)
    gain = _nats_of_edges(coarse, coarse.E, objective, which)
    gain -= _nats_of_edges(coarse, apart, objective, which)
    if cost + gain <= 0.0:
        return 0.0
    return round(min(max(cost / (cost + gain), 0.0), 1.0), _DIGITS)


def _nats_of_edges(groups: Totals, E: Floats, objective: Objective, which: Ints) -> float:
    """Return the nats that densities save with ``E`` edges inside groups, without costs."""
    parts = objective.edges.size
    component = np.repeat(np.arange(parts), np.diff(groups.firsts))
    m = objective.edges
    P = np.square(groups.K) / (4.0 * m[component])
    E_out = (m - np.bincount(component, E, minlength=parts))[which]
    P_out = (m - np.bincount(component, P, minlength=parts))[which]
    return float(savings(E, P, 1.0).sum() + savings(E_out, P_out, -1.0).sum())
