"""The finest level of a graph."""

from typing import Any

import numpy as np

from kgroups._csr import rows_of
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.multilevel._levels_nb import Level
from kgroups.multilevel._moving_nb import ROUNDING, Code, Rules, move

__all__ = ["Level", "finest_level", "modularity_moves"]

# A link of weight 0 would be no link to the kernels.
_FAINTEST = 1e-30


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
    A = CSR(np.require(A.indptr, None, "CW"), np.require(A.indices, None, "CW"), data)
    return Level(A, strength, np.zeros(strength.size), np.ones(strength.size, dtype=np.int64))


def modularity_moves(
    A: CSR, strength: Floats, z: Indices, *, penalty: float, margin: float, max_visits: int
) -> Ints:
    r"""Move nodes while :math:`\sum_a 2 E_a - \gamma K_a^2 / 2m` rises; ``penalty`` is gamma/2m.

    A move must be worth more than ``margin`` edges. No group is emptied.
    """
    level = _level(A, A.data.astype(np.float32), strength)
    labels, none = z.astype(np.int32), np.zeros(0)
    rules = Rules(none, 0.0, max_visits, margin + ROUNDING)
    code = Code(0.5 * float(strength.sum()), none, none)
    everyone, tally = np.ones(z.size, dtype=np.bool_), np.zeros(3, dtype=np.int64)
    move(level, labels, code, penalty, rules, none, True, 1, everyone, everyone.copy(), tally)
    return labels.astype(np.int64)
