"""Sweeps of Hartigan moves until nothing moves."""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import readonly
from kgroups._types import CSR, Floats, Ints
from kgroups.hartigan.objective import group_totals

__all__ = ["Candidates", "Outcome", "improve", "improve_rows"]

Candidates: TypeAlias = Literal["neighbors", "all"]

# A gain below this part of the typical association is rounding, not improvement.
_ROUNDING = 1e-10
# Embedding rows carry the error of an eigensolver, which must not decide between equal groups.
_ROW_ERROR = 1e-8
# Numbers read per kernel call, so that Ctrl-C is handled within a tenth of a second.
_BUDGET = 1 << 24


class Outcome(NamedTuple):
    """Labels after the last sweep, and what it took."""

    z: Ints
    objective: float
    sweeps: int
    moves: int
    visits: int
    converged: bool
    s: Floats
    Q: Floats


def improve(
    M: CSR,
    diagonal: Floats,
    w: Floats,
    z: Ints,
    *,
    k: int,
    candidates: Candidates = "neighbors",
    may_empty: bool = False,
    margin: float = 0.0,
    max_sweeps: int = 100,
) -> Outcome:
    r"""Move nodes one at a time while the group association Q rises.

    Moving node i from a to b changes Q by

    .. math:: \Delta Q = \frac{w_i Q_a/s_a - 2 Q_a(i) + M_{ii}}{s_a - w_i}
        - \frac{w_i Q_b/s_b - 2 Q_b(i) - M_{ii}}{s_b + w_i}

    with :math:`Q_a(i) = \sum_{j \in a} M_{ij}`. The node goes where the gain is largest; ties go
    to the group with the lowest number. One sweep costs O(nnz) with neighbouring groups as
    candidates and O(nnz + n k) with all of them.

    Parameters
    ----------
    M : CSR of shape (n, n)
        Any symmetric matrix; its diagonal entries are passed over, ``diagonal`` holds them.
    diagonal, w : ndarray of shape (n,)
        Diagonal of M, and positive node weights.
    z : ndarray of shape (n,)
        First labels in ``range(k)``; left as they are.
    k : int
        Number of groups.
    candidates : {"neighbors", "all"}
        Which groups a node may join.
    may_empty : bool
        Whether the last node of a group may leave it.
    margin : float
        How many entries of typical size a move must be worth.
    max_sweeps : int
        Sweeps after which the labels are returned as they are, ``converged`` false.

    Returns
    -------
    Outcome
        ``visits`` counts the entries of M that the sweeps read: nnz in every sweep.
    """
    from kgroups.hartigan._sweep_nb import sweep_matrix

    M = readonly(M)
    n = z.size
    z = z.astype(np.int64, copy=True)
    s, Q = group_totals(M, diagonal, w, z, k=k)
    size = np.bincount(z, minlength=k)
    link, seen, touched = np.zeros(k), np.zeros(k, np.bool_), np.zeros(k, np.int64)
    tally = np.zeros(2, dtype=np.int64)
    typical = float(np.mean(np.abs(M.data))) if M.data.size else 0.0
    filled = s > 0
    scale = float(np.max(np.abs(Q[filled] / s[filled]), initial=0.0))
    sweeps, converged = 0, n == 0
    while not converged and sweeps < max_sweeps:
        before = tally[0]
        sweep_matrix(
            M,
            diagonal,
            w,
            candidates == "all",
            may_empty,
            _ROUNDING * scale,
            margin * typical,
            z,
            s,
            Q,
            size,
            link,
            seen,
            touched,
            tally,
        )
        sweeps += 1
        converged = bool(tally[0] == before)
    filled = s > 0
    objective = float(np.sum(Q[filled] / s[filled]))
    return Outcome(z, objective, sweeps, int(tally[0]), int(tally[1]), converged, s, Q)


def improve_rows(X: Floats, z: Ints, *, k: int, max_sweeps: int = 50) -> tuple[Ints, float]:
    """Lower the k-means cost of the rows of X by Hartigan moves; no group is ever emptied.

    Returns
    -------
    z : ndarray of shape (n,)
        Labels when nothing moves any more, or after ``max_sweeps``.
    cost : float
        Sum of squared distances of the rows to the mean of their group.
    """
    from kgroups.hartigan._sweep_nb import sweep_rows

    z = z.astype(np.int64, copy=True)
    size = np.bincount(z, minlength=k)
    total = np.zeros((k, X.shape[1]))
    np.add.at(total, z, X)
    squared = np.einsum("ac,ac->a", total, total)
    length = float(np.einsum("ic,ic->", X, X))
    visited, changed = np.full(z.size, -1), np.zeros(k, dtype=np.int64)
    progress = np.zeros(5, dtype=np.int64)
    done = False
    while not done:
        done = sweep_rows(
            X,
            _ROW_ERROR * length / max(1, z.size),
            max_sweeps,
            _BUDGET,
            z,
            size,
            total,
            squared,
            visited,
            changed,
            progress,
        )
    filled = size > 0
    return z, length - float(np.sum(squared[filled] / size[filled]))
