"""Levels of a graph, and what moves on them need to know."""

from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import ENTRIES_AT_ONCE, readonly, row_ranges, rows_of
from kgroups._types import CSR, Floats, Ints

ROUNDING = 1e-9
"""Gains below this are rounding."""
# Keeps weights positive in single precision: the kernels treat a weight of 0 as no link.
_LEAST_WEIGHT = 1e-30
# From this many entries on ones are not stored: on smaller graphs they take little memory.
_IMPLICIT_ENTRIES = 1_000_000


class Level(NamedTuple):
    """Units, which are nodes or groups of nodes, and the links between them."""

    # Weights between different units, in single precision. On large graphs without weights there is
    # one number, 1, for all of them.
    A: CSR
    # Sum of the weights at the nodes of a unit, those inside counted twice.
    strength: Floats
    # Sum of the weights inside a unit, counted once.
    inner: Floats
    # Number of nodes of a unit.
    nodes: Ints


class Code(NamedTuple):
    """Tables of the code lengths of one connected graph."""

    # Sum of all weights, m.
    edges: float
    # ln N! less the cost of a density, for each size N of a community.
    of_size: Floats
    # Minus the part of the cost of labels that depends on the number of communities only.
    of_number: Floats


class Rules(NamedTuple):
    """How units are moved."""

    # Gumbel-distributed numbers; as many as a power of two.
    noise: Floats
    # A unit is undecided if its best group leads the second best by fewer nats.
    undecided_margin: float
    # Visits to each unit before its moves end.
    max_visits: int
    # Least gain of a move at a resolution, in edges.
    margin: float
    # Whether the number of groups stays: none is emptied, none is opened.
    keep: bool


def finest_level(
    A: CSR,
    *,
    weighted: bool,
    component: Ints | None = None,
    implicit_entries: int = _IMPLICIT_ENTRIES,
) -> Level:
    """Return the level of single nodes of a graph without loops.

    Weights, unless all are equal, are scaled by their mean over their mean square, so that sums of
    weights vary like counts of edges. Each component has a scale of its own. Without weights, and
    from ``implicit_entries`` entries on, one number stands for all weights.
    """
    if not weighted or not A.data.size:
        entries = len(A.indices)
        data: Any = np.ones(entries if entries < implicit_entries else 1, dtype=np.float32)
        strength = np.diff(A.indptr).astype(float)
    else:
        rows = rows_of(A)
        part = np.zeros(A.data.size, dtype=np.int64) if component is None else component[rows]
        scale = np.bincount(part, A.data) / np.maximum(
            np.bincount(part, np.square(A.data)), np.finfo(float).tiny
        )
        data = np.maximum(scale[part] * A.data, _LEAST_WEIGHT).astype(np.float32)
        strength = np.bincount(rows, weights=data, minlength=len(A.indptr) - 1).astype(float)
    return _level(A, data, strength)


def _level(A: CSR, data: Any, strength: Floats) -> Level:
    # Writable, as coarser levels are: numba compiles a kernel for each kind of array.
    A = CSR(np.require(A.indptr, None, ["C", "W"]), np.require(A.indices, None, ["C", "W"]), data)
    return Level(A, strength, np.zeros(strength.size), np.ones(strength.size, dtype=np.int64))


def explicit_weights(A: CSR) -> CSR:
    """Return the links of a level with a weight for each of them."""
    if len(A.data) == len(A.indices):
        return A
    return A._replace(data=np.ones(len(A.indices), dtype=np.float32))


def inner_weights(A: CSR, z: Ints, k: int, *, at_once: int = ENTRIES_AT_ONCE) -> Floats:
    """Return the sum of the weights inside each of ``k`` groups, those of loops halved.

    Ctrl-C has an effect each time that ``at_once`` entries have been read.
    """
    from kgroups.multilevel._moving_nb import add_inner_weights

    # Equal weights are one number with stride 0; the kernel takes an array of one.
    data = A.data[:1] if A.data.strides == (0,) else A.data
    matrix, inner = readonly(A._replace(data=data)), np.zeros(k)
    for first, stop in row_ranges(A.indptr, at_once):
        add_inner_weights(matrix, z, first, stop, inner)
    return inner
