"""Scales: partitions that are finer and coarser than a given one.

The graph of groups is described like the graph itself: its communities are super-groups, the next
coarser scale. The communities found inside groups form the next finer one. This decides which
numbers of communities there are; at each number, the communities are those that save most nats.
Scales are not nested.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kgroups._csr import row_sums
from kgroups._progress import new_control, run_kernel
from kgroups._types import Floats, Indices, Ints
from kgroups.search import _scales_nb as kernels
from kgroups.search._search_nb import ROUNDING
from kgroups.search.climbing import Searching, State, attached
from kgroups.search.levels import Level, coarsened, majority
from kgroups.search.objective import (
    GROUPS_PER_MERGE,
    LEAST_NATS,
    log_factorials,
    nats_saved,
    savings,
)
from kgroups.search.problem import Problem, labels_from_zero
from kgroups.search.settings import Search

__all__ = [
    "GroupGraph",
    "Scale",
    "exceeds_chance",
    "find_scales",
    "find_supergroups",
    "scale_nats",
    "scaling_factors",
    "supergroup_nats",
]

# With fewer groups, super-groups carry no information.
_LEAST_GROUPS = 4
# Merges end in one partition for each number of super-groups; this many of the best are improved
# by moves.
_BEST_CUTS = 6
# Models of the densities of super-groups: one that they share, and one each.
_SHARED, _OWN = 1, 0
# Relative accuracy of the eigenvalue that is compared with its bound.
_EIGENVALUE_ACCURACY = 1e-3
_ONE = np.zeros(1, dtype=np.int64)


class GroupGraph(NamedTuple):
    """The edges between groups, and how many are expected; components are not linked."""

    indptr: Ints
    indices: Ints
    e: Floats
    # Factors of the expected numbers.
    a: Floats
    # Where each component starts among the groups, and their number.
    offsets: Ints
    # Sum of the edges of each component, and what their number was divided by.
    edges: Floats
    dispersion: float

    @classmethod
    def of(cls, groups: Level, dispersion: float = 1.0) -> "GroupGraph":
        """Return the graph of the units of a level, whose weights were divided by a dispersion."""
        return cls._of(groups.indptr, groups.indices, groups.data, groups.offsets, dispersion)

    @classmethod
    def _of(
        cls, indptr: Indices, indices: Indices, data: Floats, offsets: Ints, dispersion: float
    ) -> "GroupGraph":
        e, k = data.astype(np.float64), indptr.size - 1
        sums = row_sums(np.repeat(np.arange(k), np.diff(indptr)), e, k)
        a, edges = np.zeros(k), np.zeros(offsets.size - 1)
        for c, (first, last) in enumerate(pairwise(offsets.tolist())):
            if last - first >= _LEAST_GROUPS:
                a[first:last] = scaling_factors(sums[first:last])
                edges[c] = 0.5 * float(sums[first:last].sum())
        whole = indptr.astype(np.int64), indices.astype(np.int64)
        return cls(*whole, e, a, offsets.astype(np.int64), edges, dispersion)

    @property
    def density_cost(self) -> Floats:
        """Nats that encode the number of edges in a super-group of each component."""
        return np.asarray(np.log(self.dispersion * self.edges + 1.0))

    @property
    def rows(self) -> Ints:
        """The group of each entry."""
        return np.repeat(np.arange(self.a.size), np.diff(self.indptr))

    def apart(self, part: Ints) -> tuple["GroupGraph", Ints]:
        """Return the graph whose components are parts of this one, and the order of its groups.

        Expectations are scaled to each part alone.
        """
        order, k = np.argsort(part, kind="stable"), self.a.size
        place = np.empty(k, dtype=np.int64)
        place[order] = np.arange(k)
        rows = self.rows
        inside = part[rows] == part[self.indices]
        first, second = place[rows[inside]], place[self.indices[inside]]
        by_row = np.argsort(first, kind="stable")
        lengths = np.bincount(first, minlength=k)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(part))])
        entries = second[by_row], self.e[inside][by_row]
        return self._of(indptr, *entries, offsets, self.dispersion), order


def scaling_factors(sums: Floats) -> Floats:
    """Return factors a such that the sum of a_r a_s over all s but r is given for every r.

    If S is the sum of all factors, then a_r (S - a_r) = sums_r. All a_r are the smaller root of
    that, or all but the largest, and S is found such that they add up. Where one group has all
    edges, as in a star, there is no solution, and all factors are 0.
    """
    from scipy.optimize import brentq

    hub = int(np.argmax(sums))
    most, others = float(sums[hub]), np.delete(sums, hub)
    if not most < float(others.sum()) * (1.0 - ROUNDING):
        return np.zeros_like(sums)

    # By w = 1 / S^2: the smaller root is S w times this.
    def root(x: Floats, w: float) -> Floats:
        return np.asarray(2.0 * x / (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * x * w, 0.0))))

    def excess(w: float) -> float:
        return float(w * root(sums, w).sum() - 1.0)

    def excess_beside_larger_root(w: float) -> float:
        return float(root(others, w).sum() - root(sums[hub], w))

    last = 0.25 / most
    all_small = excess(last) >= 0.0
    condition = excess if all_small else excess_beside_larger_root
    # Between the two branches rounding may leave no change of sign.
    crosses = condition(0.0) * condition(last) <= 0.0
    w = float(brentq(condition, 0.0, last, xtol=np.finfo(float).tiny)) if crosses else last
    a = np.sqrt(w) * root(sums, w)
    if not all_small:
        a[hub] = 1.0 / np.sqrt(w) - a[hub]
    return np.asarray(a)


def exceeds_chance(graph: GroupGraph, component: int = 0) -> bool:
    r"""Return whether edges between groups deviate from expectation by more than chance allows.

    The largest eigenvalue of :math:`(e_{rs} - p_{rs}) / \sqrt{p_{rs}}` is near
    :math:`2 \sqrt k` if edges are independent, and larger if there are super-groups.
    """
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator, eigsh

    first, last = graph.offsets[component : component + 2].tolist()
    slots = slice(*graph.indptr[[first, last]].tolist())
    a, k = graph.a[first:last], last - first
    root = np.sqrt(a)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=a > 0.0)
    rows, columns = graph.rows[slots] - first, graph.indices[slots] - first
    values = inverse[rows] * graph.e[slots] * inverse[columns]
    observed = sparse.csr_array((values, (rows, columns)), shape=(k, k))

    def product(x: Floats) -> Floats:
        x = x.ravel()
        return np.asarray(observed @ x - root * (root @ x) + a * x)

    operator = LinearOperator((k, k), matvec=product, dtype=float)
    # Any fixed vector that is not one of few groups.
    start, accuracy = np.cos(np.arange(k)), _EIGENVALUE_ACCURACY
    largest = eigsh(operator, 1, which="LA", v0=start, tol=accuracy, return_eigenvectors=False)
    return bool(largest[0] > 2.0 * np.sqrt(np.count_nonzero(a)))


def find_supergroups(graph: GroupGraph) -> tuple[Ints, Floats]:
    """Return the super-groups of each component that save most nats, and these nats.

    They are 0 where there are none that save enough.
    """
    k = np.diff(graph.offsets)
    saved, y = np.zeros(k.size), np.zeros(graph.a.size, dtype=np.int64)
    some = np.add.reduceat(np.append(graph.a, 0.0), graph.offsets[:-1]) > 0.0
    which = np.flatnonzero((k >= _LEAST_GROUPS) & some)
    # Merging fewer groups takes less time than their eigenvalue.
    screened = which[k[which] >= 2 * GROUPS_PER_MERGE]
    flat = [c for c in screened.tolist() if not exceeds_chance(graph, c)]
    which = np.setdiff1d(which, flat)
    if which.size:
        _run_kernel(graph, which, y, saved)
        for first, last in zip(graph.offsets[which], graph.offsets[which + 1], strict=True):
            # Moves may have left some empty.
            y[first:last] = np.unique(y[first:last], return_inverse=True)[1]
    return y, np.where(saved > LEAST_NATS, saved, 0.0)


def _run_kernel(graph: GroupGraph, which: Ints, y: Ints, saved: Floats) -> None:
    """Fill the labels of super-groups and their nats in some components."""
    k = int(np.diff(graph.offsets)[which].max())
    entries = int(np.diff(graph.indptr[graph.offsets])[which].max())
    saved[which] = LEAST_NATS
    run_kernel(
        kernels.group_groups,
        len(graph.indices),
        *graph[:6],
        graph.density_cost,
        log_factorials(k + 2),
        which,
        GROUPS_PER_MERGE,
        y,
        saved,
        np.empty((4, k)),
        np.empty((6, k), dtype=np.int64),
        np.empty(k),
        np.empty(2 * (k + 1), dtype=np.int64),
        np.empty(2 * entries, dtype=np.int64),
        np.empty(2 * entries),
        np.empty((_BEST_CUTS, k), dtype=np.int64),
        np.empty(_BEST_CUTS),
        np.array([_SHARED, _OWN]),
        new_control(),
    )


def supergroup_nats(graph: GroupGraph, y: Ints) -> float:
    """Return U, the nats that super-groups save in a graph of one component."""
    y = np.unique(y, return_inverse=True)[1]
    k, q = y.size, int(y.max()) + 1
    if not 1 < q < k or not graph.a.any():
        return 0.0
    factorial, m = log_factorials(k + 2), float(graph.edges[0])
    own = y[graph.rows]
    same = own == y[graph.indices]
    E = 0.5 * row_sums(own[same], graph.e[same], q)
    P = 0.5 * (np.square(row_sums(y, graph.a, q)) - row_sums(y, np.square(graph.a), q))
    size, cost = np.bincount(y), float(graph.density_cost[0])
    each = float(savings(E, P, 1.0).sum()) - cost * np.count_nonzero(size > 1)
    inside, chance = E.sum(keepdims=True), P.sum(keepdims=True)
    shared = float(savings(inside, chance, 1.0)[0]) - cost
    between = float(savings(m - inside, m - chance, -1.0)[0])
    labels = factorial[k - 1] - factorial[q - 1] - factorial[k - q] - factorial[q]
    labels += factorial[k] - factorial[size].sum()
    return max(shared, each) + between - float(labels)


class Scale(NamedTuple):
    """A partition at one scale."""

    # Labels of the nodes of a problem, without gaps from 0.
    z: Ints
    # Nats saved in the description, summed over components.
    nats: float


class _Chain(NamedTuple):
    """Labels of a component that are finer and coarser than its communities, nearest first."""

    finer: list[Indices]
    coarser: list[Indices]


def find_scales(
    problem: Problem,
    z: Ints,
    settings: Search,
    rng: np.random.Generator,
    progress: Callable[[str], None] = lambda stage: None,
) -> list[Scale]:
    """Return partitions at all scales of a graph, finest first; ``z`` is one of them.

    Each component is described separately and has its own scales. From ``z`` to the next coarser
    scale of the graph, the component whose next communities are smallest on average changes, and
    with it those whose next communities are closer to that size than their present ones; and so on.
    Finer scales are combined likewise, those of the largest communities first. Where communities
    save less than a nat per node, they are faint, and there are no other scales.

    Parameters
    ----------
    problem : Problem
        The graph.
    z : ndarray of shape (n,)
        Communities, without gaps from 0 and never across components.
    settings : Search
        How finer communities, and those of a given number, are searched for.
    rng : Generator
        Randomness of the search.
    progress : callable
        Called with the name of each stage.
    """
    start = _Labels.of(problem, z)
    entropy = int(rng.integers(2**63))
    chains: dict[int, _Chain] = {}
    nats = start.nats(problem)
    # Where communities are faint, many are half wrong, and their super-groups are spurious.
    clear = nats if problem.dispersion == 1.0 else start.nats(problem.dispersed(1.0))
    for c in np.flatnonzero((clear >= problem.sizes) & (start.k > 1)).tolist():
        part, stream = problem.part(c), np.random.default_rng([entropy, c])
        chains[c] = _Component(part, start.z[problem.rows(c)], settings, stream, progress).chain()
    finer = _combined(problem, start, {c: chain.finer for c, chain in chains.items()})
    coarser = _combined(problem, start, {c: chain.coarser for c, chain in chains.items()})
    return [*reversed(finer), Scale(z, float(nats.sum())), *coarser]


class _Labels(NamedTuple):
    """Labels that start from 0 in each component, and their numbers."""

    z: Indices
    k: Ints

    @classmethod
    def of(cls, problem: Problem, z: Ints) -> "_Labels":
        """Return the labels of a graph."""
        return cls(*labels_from_zero(z, problem))

    def scale(self, problem: Problem) -> Scale:
        """Return labels of the graph with their nats."""
        nats = float(self.nats(problem).sum())
        return Scale((np.cumsum(self.k) - self.k)[problem.component] + self.z, nats)

    def nats(self, problem: Problem) -> Floats:
        """Return the nats that they save in each component."""
        return nats_saved(problem.level, self.z, self.k, problem.objective)


def _combined(problem: Problem, start: _Labels, chains: dict[int, list[Indices]]) -> list[Scale]:
    """Put chains of labels of components together, in order of the size of communities."""
    scales, at = [], _Labels(start.z.copy(), start.k.copy())
    left = {c: list(chain) for c, chain in chains.items() if chain}
    while left:
        which = np.array(list(left))
        number = np.array([_number(chain[0]) for chain in left.values()])
        # Logarithms of mean sizes, those of finer communities with the opposite sign.
        n, sign = problem.sizes[which], np.sign(at.k[which[0]] - number[0])
        now, then = sign * np.log(n / at.k[which]), sign * np.log(n / number)
        size = then.min()
        for c in which[(then == size) | (2.0 * size > now + then)].tolist():
            at.z[problem.rows(c)] = left[c].pop(0)
            at.k[c] = _number(at.z[problem.rows(c)])
        left = {c: chain for c, chain in left.items() if chain}
        scales.append(at.scale(problem))
    return scales


class _Component:
    """The scales of one component."""

    def __init__(
        self,
        part: Problem,
        z: Indices,
        settings: Search,
        rng: np.random.Generator,
        progress: Callable[[str], None],
    ) -> None:
        self.z, self.k = z, int(z.max()) + 1
        self.part, self.level, self.objective = part, part.level, part.objective
        self.dispersion = part.dispersion
        self.settings, self.rng, self.progress = settings, rng, progress
        self.searching = Searching(self.level, settings, rng, self.dispersion)

    def chain(self) -> _Chain:
        """Return the finer and the coarser labels."""
        self.progress("splitting communities")
        steps = [self.z]
        for below in (self._in_full, self._split):
            y = below(steps[0])
            steps = [y, *steps] if _number(y) > _number(steps[0]) else steps
        self.progress("merging communities")
        # Communities may mix scales: then finer ones lead to better super-groups.
        chains = [[*steps[:place], *self._upwards(y)] for place, y in enumerate(steps)]
        levels = max(reversed(chains), key=self._nats)
        self.progress("comparing communities of the same number")
        finer = [y for y in reversed(levels) if _number(y) > self.k]
        coarser: list[Indices] = []
        given: tuple[Indices, Ints] | None = None
        for y in levels:
            if 1 < _number(y) < self.k:
                # A search with this number given competes; it goes on from that of the last one.
                k = np.array([_number(y)])
                given = self.searching.given_number(k, _ONE, finer=given), k
                own, other = self._moved(y), self._moved(given[0])
                y = other.z if other.saved[0] > own.saved[0] else own.z
                if 1 < _number(y) < _number(coarser[-1] if coarser else self.z):
                    coarser.append(y)
        return _Chain(finer, coarser)

    def _in_full(self, z: Indices) -> Indices:
        """Return the communities if edges count in full, which may be finer than ``z``."""
        if self.dispersion == 1.0:
            return z
        whole = self.part.dispersed(1.0)
        return Searching(whole.level, self.settings, self.rng, whole.dispersion).search(_ONE).z

    def _split(self, z: Indices) -> Indices:
        """Return the communities, with those split that contain communities themselves."""
        y, k = self.searching.split(z, _ONE)
        return self._moved(y).z if k[0] > _number(z) else z

    def _upwards(self, z: Indices) -> list[Indices]:
        """Return labels, super-groups, super-groups of these, and what lies between them."""
        levels = [z]
        while True:
            y, nats = find_supergroups(self._group_graph(levels[-1]))
            if not nats[0]:
                break
            levels.append(self._moved(y[levels[-1]]).z)
        step = 0
        while step + 1 < len(levels):
            middle = self._between(*levels[step : step + 2])
            if middle is None:
                step += 1
            else:
                levels.insert(step + 1, middle)
        return levels

    def _between(self, fine: Indices, coarse: Indices) -> Indices | None:
        """Return labels between two, from super-groups inside each of the coarser groups."""
        parent = majority(fine, coarse)[0]
        graph, order = self._group_graph(fine).apart(parent)
        y, nats = find_supergroups(graph)
        if not nats.any():
            return None
        # Where a group has none, it stays whole.
        y *= np.repeat(nats > 0.0, np.diff(graph.offsets))
        within = np.empty_like(y)
        within[order] = y
        y = np.unique(parent * y.size + within, return_inverse=True)[1]
        middle = self._moved(y[fine]).z
        return middle if _number(coarse) < _number(middle) < _number(fine) else None

    def _nats(self, levels: list[Indices]) -> float:
        """Return the nats that a chain saves beyond the description of its finest labels."""
        return sum(
            supergroup_nats(self._group_graph(fine), majority(fine, coarse)[0])
            for fine, coarse in pairwise(levels)
        )

    def _moved(self, y: Ints) -> State:
        """Return connected communities after moves of nodes; their number stays the same."""
        found = self.searching.moved(y.astype(np.int32), _ONE)
        return attached(self.level, self.objective, found, _ONE)

    def _group_graph(self, z: Indices) -> GroupGraph:
        k = np.array([_number(z)])
        groups = coarsened(self.level, z, k, _ONE, self.searching.control)
        return GroupGraph.of(groups, self.dispersion)


def _number(z: Ints) -> int:
    return int(z.max()) + 1


def scale_nats(problem: Problem, z: Ints) -> float:
    """Return the nats that labels of a graph save, summed over components."""
    return float(_Labels.of(problem, z).nats(problem).sum())
