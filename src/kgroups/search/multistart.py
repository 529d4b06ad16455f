"""The search of all components of a graph in one call of a kernel."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import masked, restricted, rows_of
from kgroups._types import CSR, Floats, Ints
from kgroups.multilevel import Level, finest_level
from kgroups.search.problem import Problem
from kgroups.search.settings import Search

__all__ = [
    "COUNTED_NODES",
    "SMALL_NODES",
    "Searched",
    "given_number",
    "nats_saved",
    "search",
    "split_small",
]

# From this many entries on a kernel runs beside the main thread, which then hears of Ctrl-C.
_LONG = 100_000
_POLL_SECONDS = 0.05
SMALL_NODES = 9
"""Where all pairs are counted, any saving splits a community up to this size: three triangles."""
COUNTED_NODES = 64
"""Pairs are counted in components up to this size that are one community."""


class Searched(NamedTuple):
    """What the search found, nodes sorted by component.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels, from 0 in each component.
    k : ndarray of shape (n_components,)
        Number of communities of each component.
    saved : ndarray of shape (n_components,)
        Nats that they save.
    undecided : ndarray of shape (n_components,)
        Share of the nodes for which another community is nearly as good.
    visits : int
        Matrix entries read.
    """

    z: Ints
    k: Ints
    saved: Floats
    undecided: Floats
    visits: int


def search(
    problem: Problem, settings: Search, rng: np.random.Generator, *, start: Ints | None = None
) -> Searched:
    """Find the communities of every component with the shortest description.

    Parameters
    ----------
    problem : Problem
        The graph.
    settings : Search
        Settings of the search.
    rng : Generator
        Noise of annealing.
    start : ndarray of shape (n,), optional
        Labels to start from, in the order of the problem.
    """
    from kgroups.search._search_nb import search_components

    level = problem.level
    order, offsets = problem.by_component
    given = np.zeros(0, dtype=np.int32)
    if start is not None:
        given = _from_zero(start[order], problem.component[order], problem.n_components)
    tally = np.zeros(3, dtype=np.int64)
    z, k, saved, undecided = _interruptible(
        search_components, level, offsets, given, settings.plan(rng), tally
    )
    return Searched(z.astype(np.int64), k, saved, undecided, int(tally[0]))


def nats_saved(level: Level, z: Ints) -> float:
    """Return the nats that a partition of a connected graph saves in its description."""
    from kgroups.search._search_nb import nats_by_component

    return float(nats_by_component(level, np.array([0, z.size]), z.astype(np.int32))[0])


def given_number(
    level: Level, k: int, settings: Search, rng: np.random.Generator
) -> tuple[Ints, int]:
    """Find exactly ``k`` communities of a connected graph; return them and the entries read."""
    from kgroups.search._search_nb import search_given_k

    tally = np.zeros(3, dtype=np.int64)
    z = _interruptible(search_given_k, level, k, settings.plan(rng), tally)
    return z.astype(np.int64), int(tally[0])


def split_small(A: CSR, z: Ints, most: Ints, settings: Search, rng: np.random.Generator) -> Ints:
    """Split small communities, each judged alone.

    Parameters
    ----------
    A : CSR
        Adjacency matrix without loops; weights are not looked at.
    z : ndarray of shape (n,)
        Labels without gaps, of connected communities.
    most : ndarray of shape (n,)
        Largest size up to which the community of a node is tried.
    settings, rng
        As for :func:`search`.
    """
    from kgroups.search._search_nb import small_split

    size = np.bincount(z)
    rows = np.flatnonzero(size[z] <= most)
    if not rows.size:
        return z
    rows = rows[np.argsort(z[rows], kind="stable")]
    place = np.full(z.size, -1, dtype=A.indices.dtype)
    place[rows] = np.arange(rows.size, dtype=A.indices.dtype)
    inside = masked(A, (place[rows_of(A)] >= 0) & (z[rows_of(A)] == z[A.indices]))
    level = finest_level(restricted(inside, rows), weighted=False)
    names, counts = np.unique(z[rows], return_counts=True)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    tally = np.zeros(3, dtype=np.int64)
    labels = small_split(level, offsets, SMALL_NODES, settings.plan(rng), tally)
    split = z.copy()
    more = labels > 0
    split[rows[more]] = size.size + COUNTED_NODES * np.repeat(np.arange(names.size), counts)[more]
    split[rows[more]] += labels[more]
    return np.unique(split, return_inverse=True)[1]


def _from_zero(z: Ints, component: Ints, n_components: int) -> Any:
    """Return labels that start from 0 in each component and have no gaps there."""
    names, first = np.unique(component * (int(z.max(initial=0)) + 1) + z, return_inverse=True)
    owner = np.empty(names.size, dtype=np.int64)
    owner[first] = component
    start = np.searchsorted(owner, np.arange(n_components))
    return (first - start[component]).astype(np.int32)


def _interruptible(kernel: Callable[..., Any], level: Level, *arguments: Any) -> Any:
    """Call a kernel whose last argument is a tally; Ctrl-C sets the flag in it that stops it."""
    if len(level.A.indices) < _LONG:
        return kernel(level, *arguments)
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(kernel, level, *arguments)
        try:
            while True:
                try:
                    return running.result(_POLL_SECONDS)
                except TimeoutError:
                    if running.done():
                        raise
        except BaseException:
            arguments[-1][2] = 1
            raise
