r"""Patches of a continuum: communities whose borders could as well lie elsewhere.

A grid, a small world, and points that are linked to those nearby have no communities, but any
partition into compact patches saves many nats. Two numbers tell patches from communities.

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
that are merged, that would cost some nats; the links between them make up for a part of it. The
separation is the share that remains: 1 for communities without links between them. Among patches of
a continuum it is small, as there a partition into larger patches is nearly as good.
"""

import math
from typing import NamedTuple

import numpy as np

from kgroups._csr import row_sums
from kgroups._progress import new_control, run_kernel
from kgroups._types import Floats, Ints
from kgroups.search import _dispersion_nb as kernels
from kgroups.search.levels import Level, coarsened, singletons
from kgroups.search.objective import Groups, Objective, Totals, merged_down, totals
from kgroups.search.problem import Problem, labels_from_zero

LEAST_CONTIGUITY = 1.5
"""Patches have more: communities are nearer to two parts with neighbors of their own than to one.

It is 1 on block models of any kind, so that the number matters for real networks only.
"""
MOST_SEPARATION = 0.5
"""Patches have less: links between merged communities make up for most of what merging costs."""
# Standard deviations by which more pairs of links must lead to the same community than by chance.
_SURE = 3.0
# With fewer communities, links that leave one have no choice.
_LEAST_GROUPS = 3
# Nodes from which pairs of links are counted at first; there are many pairs at each.
_SAMPLE = 1_000
_DIGITS = 6


class Borders(NamedTuple):
    """What the borders of communities are like."""

    # How many times as many as by chance the pairs of links to the same other community are.
    contiguity: float
    # Share of the cost of merging that links do not make up for; None where it does not matter.
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
        """How many times as many there are as expected; 1 where none are expected."""
        return round(self.found / self.expected, _DIGITS) if self.expected > 0.0 else 1.0

    def is_clear(self, among: int = 1) -> bool:
        """Return whether that is more than a block model, or chance in one of many, would give."""
        # A normal deviate beyond this is about as rare in one of many as beyond _SURE in one.
        sure = math.sqrt(_SURE**2 + 2.0 * math.log(among))
        return self.ratio > LEAST_CONTIGUITY and self.found > self.expected + sure * self.deviation


def borders_of(problem: Problem, described: Problem, z: Ints) -> Borders | None:
    """Return what the borders of communities are like, None where there are hardly any.

    ``described`` is the problem with the evidence of edges divided by the dispersion. Components
    are judged one by one; the numbers are those of the one with most patches, or if there are none
    of the largest. The separation is measured where the contiguity is clear.
    """
    z, k = labels_from_zero(z, problem), np.zeros(problem.n_components, dtype=np.int64)
    np.maximum.at(k, problem.component, z + 1)
    which = np.flatnonzero(k >= _LEAST_GROUPS)
    if not which.size:
        return None
    # Most graphs need no more than a sample.
    sampled = contiguity(problem.level, z, k, which, at_most=_SAMPLE)
    clear = which[[one.is_clear(which.size) for one in sampled]]
    measured = dict(zip(which.tolist(), sampled, strict=True))
    if clear.size:
        whole = contiguity(problem.level, z, k, clear)
        measured |= zip(clear.tolist(), whole, strict=True)
    borders = {}
    for c, one in measured.items():
        share, patches = None, 0
        if one.is_clear(which.size):
            share = separation(described.level, described.objective, z, k, np.array([c]))
            patches = int(k[c]) if share < MOST_SEPARATION else 0
        borders[c] = Borders(one.ratio, share, patches)
    shown = max(borders, key=lambda c: (borders[c].patches, problem.sizes[c]))
    return borders[shown]._replace(patches=sum(one.patches for one in borders.values()))


def contiguity(
    level: Level, z: Ints, k: Ints, which: Ints, *, at_most: int | None = None
) -> list[Contiguity]:
    """Return the contiguity in each of some components, in which labels start from 0.

    Weights do not count. Pairs of links are counted from so many nodes ``at_most``.
    """
    # One number stands for all weights.
    groups = Groups.of(level._replace(data=np.ones(1, dtype=np.float32)), z, k, which)
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
    """Return how likely links of a group, drawn without replacement, lead to the same others.

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
    """Return the share of the cost of merging communities in pairs that links do not make up for.

    The labels start from 0 in each of some components, which have at least three communities each.
    """
    control = new_control()
    top = coarsened(level, z.astype(np.int32, copy=False), k, which, control)
    number, half = np.zeros_like(k), np.ones_like(k)
    number[which], half[which] = k[which], (k[which] + 1) // 2
    fine = totals(top, singletons(top), number, which, objective)
    parent, left = merged_down(top, objective, which, half, control)
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
    """Return the nats that densities save with so many edges inside groups, without costs."""
    parts = objective.edges.size
    component = np.repeat(np.arange(parts), np.diff(groups.firsts))
    m = objective.edges
    P = np.square(groups.K) / (4.0 * m[component])
    inside = np.where(E > P, _divergence(E, P), 0.0).sum()
    E_out = (m - np.bincount(component, E, minlength=parts))[which]
    P_out = (m - np.bincount(component, P, minlength=parts))[which]
    return float(inside + np.where(E_out < P_out, _divergence(E_out, P_out), 0.0).sum())


def _divergence(E: Floats, P: Floats) -> Floats:
    tiny = np.finfo(float).tiny
    E, P = np.maximum(E, 0.0), np.maximum(P, tiny)
    return E * np.log(np.maximum(E, tiny) / P) - E + P
