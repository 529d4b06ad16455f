r"""The objective: nats that communities save in the description of a graph.

With :math:`E_c` edges inside, degrees :math:`K_c` and :math:`N_c` nodes of community c, with
:math:`P_c = K_c^2 / 4m` edges expected inside by degrees alone, and the same outside,

.. math:: \Phi = \sum_c \Bigl[E_c \ln\frac{E_c}{P_c} - E_c + P_c\Bigr]_{E_c > P_c}
    + \Bigl[E_{out} \ln\frac{E_{out}}{P_{out}} - E_{out} + P_{out}\Bigr]_{E_{out} < P_{out}}
    - \sum_c \ln\Bigl(\min\bigl(\tbinom{N_c}{2}, m\bigr) + 1\Bigr)
    - \ln\frac{n!}{\prod_c N_c!} - \ln\binom{n-1}{k-1} + \ln k!

It is derived in docs/theory.md. One community saves 0. Each component of a graph is described by
itself.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kgroups._progress import new_tally, run_kernel
from kgroups._types import Floats, Indices, Ints
from kgroups.search import _climbing_nb as kernels
from kgroups.search.levels import Level, coarsened, places, singletons

GROUPS_PER_MERGE = 50
"""A round merges at least one group in this many, so that rounds stay few."""
# Up to this many factorials are kept between calls.
_KEPT_FACTORIALS = 10_000
_NONE = np.zeros(0)


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

    @classmethod
    def of(cls, level: Level, dispersion: float = 1.0) -> "Objective":
        """Return the code lengths of the components of a finest level.

        Its weights have been divided by the ``dispersion``, which does not change costs.
        """
        sizes, parts = level.sizes, level.sizes.size
        owner = np.arange(parts).repeat(sizes)
        strength = np.bincount(owner, level.strength, minlength=parts)
        edges = 0.5 * strength.astype(float, copy=False)
        tables = level.offsets[:-1] + 2 * np.arange(parts)
        factorial = log_factorials(int(sizes.max(initial=0)) + 2)
        owner = np.arange(parts).repeat(sizes + 2)
        size, n = np.arange(owner.size) - tables[owner], sizes[owner]
        pairs = np.minimum(0.5 * size * (size - 1.0), dispersion * edges[owner])
        of_size = factorial[size] - np.log(pairs + 1.0)
        k = np.minimum(np.maximum(size, 1), n)
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
    code = (_NONE, _NONE, _NONE, firsts) if objective is None else objective[:4]
    E, K, N = np.zeros(groups), np.zeros(groups), np.zeros(groups, dtype=np.int64)
    found = Totals(E, K, N, firsts, np.zeros((k.size, 3)), np.zeros(k.size))
    arguments = *level, *code, which, z, firsts, E, K, N, found.sums, found.saved, new_tally()
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
    """Return the gain of each group's best merge, but for the cost of a density, and with whom.

    Groups without links have no partner, -1, and gain -inf.
    """
    n = groups.n
    own, gain, partner = np.empty(n), np.full(n, -np.inf), np.full(n, -1, dtype=np.int32)
    edges, factorial = objective.edges, objective.factorial
    kernels.best_partners(*groups, edges, factorial, which, own, gain, partner)
    return gain, partner


def merged_down(
    groups: Level, objective: Objective, which: Ints, target: Ints, tally: Ints
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
        groups = coarsened(groups, into, k, active, tally)


__all__ = [
    "GROUPS_PER_MERGE",
    "Objective",
    "Totals",
    "log_factorials",
    "merged_down",
    "nats_saved",
    "totals",
]
