"""Levels of a graph, what moves on them need to know, and moves at a resolution."""

from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import rows_of
from kgroups._types import CSR, Floats, Indices, Ints

__all__ = ["ROUNDING", "Code", "Level", "Rules", "finest_level", "modularity_moves"]

ROUNDING = 1e-9
"""Gains below this are rounding."""


# A link of weight 0 would be no link to the kernels.
_FAINTEST = 1e-30


class Level(NamedTuple):
    """Units, which are nodes or groups of nodes, and the links between them.

    Attributes
    ----------
    A : CSR of float32
        Weights between different units.
    strength : ndarray of shape (n,)
        Sum of the weights at the nodes of a unit, those inside counted twice.
    inner : ndarray of shape (n,)
        Sum of the weights inside a unit, counted once.
    nodes : ndarray of shape (n,)
        Number of nodes of a unit.
    """

    A: CSR
    strength: Floats
    inner: Floats
    nodes: Ints


class Code(NamedTuple):
    """What the code lengths of one connected graph need to know of it.

    Attributes
    ----------
    edges : float
        Sum of all weights, m.
    of_size : ndarray of shape (n + 1,)
        ln N! less the cost of a density, for each size N of a community.
    of_number : ndarray of shape (n + 2,)
        Minus the cost of labels that the sizes do not pay back, for each number of communities.
    """

    edges: float
    of_size: Floats
    of_number: Floats


class Rules(NamedTuple):
    """How units are moved.

    Attributes
    ----------
    noise : ndarray
        Gumbel-distributed numbers; as many as a power of two.
    doubt : float
        Nats that the best group of a unit must be ahead for the unit to be decided.
    max_visits : int
        Visits to each unit before moving is given up.
    margin : float
        What a move at a resolution must gain, in edges.
    keep : bool
        Whether the number of groups stays: none is left empty, none is opened.
    """

    noise: Floats
    doubt: float
    max_visits: int
    margin: float
    keep: bool


def finest_level(A: CSR, *, weighted: bool, component: Ints | None = None) -> Level:
    """Return the level of single nodes of a graph without loops.

    Parameters
    ----------
    A : CSR
        Adjacency matrix.
    weighted : bool
        Whether weights differ. They are scaled by their mean over their mean square, so that sums
        of weights vary like counts of edges; equal weights become 1.
    component : ndarray of shape (n,), optional
        Component of each node, where there are several: each has a scale of its own.
    """
    n = len(A.indptr) - 1
    rows = rows_of(A)
    data: Any = np.ones(len(A.indices), dtype=np.float32)
    if weighted and A.data.size:
        part = np.zeros(A.data.size, dtype=np.int64) if component is None else component[rows]
        scale = np.bincount(part, A.data) / np.maximum(
            np.bincount(part, np.square(A.data)), np.finfo(float).tiny
        )
        data = np.maximum(scale[part] * A.data, _FAINTEST).astype(np.float32)
    strength = np.bincount(rows, weights=data, minlength=n).astype(float)
    return _level(A, data, strength)


def _level(A: CSR, data: Any, strength: Floats) -> Level:
    # Writable, as coarser levels are: numba compiles a kernel for each kind of array.
    A = CSR(np.require(A.indptr, None, ["C", "W"]), np.require(A.indices, None, ["C", "W"]), data)
    return Level(A, strength, np.zeros(strength.size), np.ones(strength.size, dtype=np.int64))


def modularity_moves(
    A: CSR, strength: Floats, z: Indices, *, penalty: float, margin: float, max_visits: int
) -> Ints:
    r"""Move nodes while :math:`\sum_a 2 E_a - \gamma K_a^2 / 2m` rises; ``penalty`` is gamma/2m.

    A move must be worth more than ``margin`` edges. No group is emptied.
    """
    from kgroups.multilevel._moving_nb import move

    level = _level(A, A.data.astype(np.float32), strength)
    labels, none = z.astype(np.int32), np.zeros(0)
    rules = Rules(none, 0.0, max_visits, margin + ROUNDING, keep=True)
    code = Code(0.5 * float(strength.sum()), none, none)
    everyone, tally = np.ones(z.size, dtype=np.bool_), np.zeros(3, dtype=np.int64)
    move(level, labels, code, penalty, rules, none, 1, everyone, everyone.copy(), tally)
    return labels.astype(np.int64)
