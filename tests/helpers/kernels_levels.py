"""Kernels of the search, called with defaults and by keyword."""

from typing import NamedTuple

import numpy as np

import kgroups as kg
from helpers.strategies_levels import problem_of, rules_of
from kgroups._progress import new_tally
from kgroups.description._code_nb import code_of, nats_saved_nb
from kgroups.multilevel._levels_nb import renumbered
from kgroups.multilevel._moving_nb import move
from kgroups.search._search_nb import LABELS, _connected, _search, nats_by_component


class Moved(NamedTuple):
    """Labels after moves, their value, and the arrays that the kernel changes."""

    z: np.ndarray
    value: float
    waiting: np.ndarray
    undecided: np.ndarray
    tally: np.ndarray


def moved(
    level,
    z,
    *,
    penalty=0.0,
    temperatures=(),
    waiting=None,
    undecided=None,
    tally=None,
    step=1,
    **rules,
):
    """Move units from labels ``z``, which are not modified."""
    n, z = level.nodes.size, np.array(z, dtype=np.int32)
    waiting = np.ones(n, dtype=np.bool_) if waiting is None else waiting
    undecided = np.ones(n, dtype=np.bool_) if undecided is None else undecided
    tally = new_tally() if tally is None else tally
    heat, rules = np.array(temperatures, dtype=float), rules_of(**rules)
    arguments = (penalty, rules, heat, step, waiting, undecided, tally)
    value = move(level, z, code_of(level), *arguments)
    return Moved(z, value, waiting, undecided, tally)


def nats(level, z):
    """Return the nats that labels of a connected graph save."""
    z, k = renumbered(np.asarray(z, dtype=np.int32), int(np.max(z)) + 1)
    return nats_saved_nb(level, z, k, code_of(level), new_tally())


def nats_of(graph, labels):
    """Return the nats that labels save in each component of a Graph."""
    problem = problem_of(graph)
    order, offsets = problem.by_component
    z = np.asarray(labels)[order].astype(np.int32)
    for c in range(problem.n_components):
        rows = slice(offsets[c], offsets[c + 1])
        z[rows] = np.unique(z[rows], return_inverse=True)[1]
    return nats_by_component(problem.level, offsets, z)


def searched_from(level, z):
    """Return the state that the search reaches from labels, before and after fragments join."""
    code, tally = code_of(level), new_tally()
    plan = kg.Search().plan(np.random.default_rng(0))
    state = _search(level, np.asarray(z, dtype=np.int32), LABELS, code, plan, tally)
    return state, _connected(level, state, code, plan, tally)
