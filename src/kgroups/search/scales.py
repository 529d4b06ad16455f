"""Scales: partitions that are finer and coarser than a given one.

The graph of groups is described as the graph is: its communities are super-groups, the next coarser
scale (:mod:`kgroups.search.supergroups`). Groups that are communities of their own inside are the
next finer one. Which numbers of communities there are is decided so; at each number, communities
are those that save most nats. They are not nested.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Indices, Ints
from kgroups.search.climbing import State, attached
from kgroups.search.levels import coarsened, majority
from kgroups.search.objective import nats_saved
from kgroups.search.problem import Problem
from kgroups.search.searching import Searching
from kgroups.search.settings import Search
from kgroups.search.supergroups import GroupGraph, find_supergroups, supergroup_nats

_ONE = np.zeros(1, dtype=np.int64)


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

    Each component is described by itself, and has scales of its own. In a step from ``z`` to the
    next coarser scale of the graph, the component whose next communities are smallest on average
    changes, and with it those whose next communities are nearer to that size than their present
    ones; and so on. Finer scales are put together likewise, those of the largest communities first.
    Where communities save less than a nat per node, they are faint, and there are no other scales.

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
    # Where communities are faint, many are half right, and their super-groups are not there.
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
        number = int(z.max(initial=0)) + 1
        names, place = np.unique(problem.component * number + z, return_inverse=True)
        owner = names // number
        k = np.bincount(owner, minlength=problem.n_components)
        first = (np.cumsum(k) - k)[owner]
        return cls((np.arange(names.size) - first)[place].astype(np.int32), k)

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
        self.searching = Searching(self.level, settings, rng, self.objective)

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
        return Searching(whole.level, self.settings, self.rng, whole.objective).search(_ONE).z

    def _split(self, z: Indices) -> Indices:
        """Return communities of which those are split that have some of their own inside."""
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
        """Return connected communities after moves of nodes at a fixed number of them."""
        found = self.searching.moved(y.astype(np.int32), _ONE)
        return attached(self.level, self.objective, found, _ONE)

    def _group_graph(self, z: Indices) -> GroupGraph:
        k = np.array([_number(z)])
        groups = coarsened(self.level, z, k, _ONE, self.searching.tally)
        return GroupGraph.of(groups, self.dispersion)


def _number(z: Ints) -> int:
    return int(z.max()) + 1


def scale_nats(problem: Problem, z: Ints) -> float:
    """Return the nats that labels of a graph save, summed over components."""
    return float(_Labels.of(problem, z).nats(problem).sum())


__all__ = ["Scale", "find_scales", "scale_nats"]
