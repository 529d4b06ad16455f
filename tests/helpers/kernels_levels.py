"""Kernels of the search, called with defaults and by keyword."""

from typing import NamedTuple

import numpy as np

import kgroups as kg
from helpers.oracles_levels import renumbered
from helpers.strategies_levels import ONE, rules_of
from kgroups._progress import new_control
from kgroups.search import ROUNDING, Objective, _search_nb, nats_saved, prepare, totals
from kgroups.search.arbiter import _pairs_saved
from kgroups.search.climbing import Searching


class Moved(NamedTuple):
    """Labels after moves, their value, and the arrays that the kernel changes."""

    z: np.ndarray
    value: float
    waiting: np.ndarray
    undecided: np.ndarray
    control: np.ndarray


def objective_of(level):
    """Return the code lengths of nodes that are units, or in units, of a level."""
    offsets = np.concatenate([[0], np.cumsum(level.nodes)])[level.offsets]
    # Only the sum of strengths in a component matters.
    strength = np.repeat(level.strength / level.nodes, level.nodes)
    return Objective.of(level._replace(strength=strength, offsets=offsets))


def moved(
    level,
    z,
    *,
    penalty=0.0,
    margin=ROUNDING,
    temperatures=(),
    waiting=None,
    undecided=None,
    control=None,
    start=0,
    **rules,
):
    """Move units of a level of one component from labels ``z``, which are not modified.

    Labels have no gaps afterwards, in the order of their first units, unless groups are kept.
    """
    n, z = level.n, np.array(z, dtype=np.int32)
    waiting = np.ones(n, dtype=np.bool_) if waiting is None else waiting
    undecided = np.ones(n, dtype=np.bool_) if undecided is None else undecided
    control = new_control() if control is None else control
    saved, k, share = np.zeros(1), np.ones(1, dtype=np.int64), np.zeros(1)
    _search_nb.climb(
        *level,
        *objective_of(level)[:4],
        ONE,
        z,
        np.array([penalty], dtype=float),
        np.array([margin], dtype=float),
        *rules_of(**rules),
        np.array(temperatures, dtype=float),
        start,
        1,
        waiting,
        undecided,
        k,
        saved,
        share,
        *level.scratch,
        control,
    )
    assert k[0] == np.unique(z).size
    assert share[0] == level.nodes[undecided].sum() / level.nodes.sum()
    return Moved(z, float(saved[0]), waiting, undecided, control)


def nats(level, z):
    """Return the nats that labels of a level of one component save."""
    z = renumbered(z)
    k = np.array([z.max() + 1])
    return float(nats_saved(level, z, k, objective_of(level))[0])


def nats_of(graph, labels):
    """Return the nats that labels save in each component of a Graph."""
    ready = prepare(graph)
    problem, z = ready.problem, ready.sorted(np.asarray(labels)).astype(np.int64)
    for c in range(problem.n_components):
        z[problem.rows(c)] = renumbered(z[problem.rows(c)])
    k = np.ones(problem.n_components, dtype=np.int64)
    np.maximum.at(k, problem.component, z + 1)
    return nats_saved(problem.level, z, k, problem.objective)


def pairs_saved(level, z, k):
    """Return the nats that communities save where edges are coded as positions among pairs."""
    found, n = totals(level, z, np.array([k]), ONE), np.array([level.n])
    m = np.array([level.indices.size // 2])
    return float(_pairs_saved(found.E, found.N, found.firsts, n, level.strength, m)[0])


class _Unconnected(Searching):
    """The search before fragments of communities join their neighbors."""

    def connected(self, state, which):
        return state


def searched_from(level, z):
    """Return the state that the search reaches from labels, before and after fragments join."""
    rng = np.random.default_rng(0)
    searching = _Unconnected(level, kg.Search(), rng)
    state = searching.search(ONE, labels=np.asarray(z, dtype=np.int32))
    return state, Searching.connected(searching, state, ONE)


def given_number(level, k, *, seed=0):
    """Return exactly ``k`` communities of a level of one component, and the entries read."""
    searching = Searching(level, kg.Search(), np.random.default_rng(seed))
    return searching.given_number(np.array([k]), ONE), searching.visits
