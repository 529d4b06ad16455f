"""Group association, the objective of Hartigan moves, and sweeps until no node moves."""

from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import readonly
from kgroups._progress import new_tally, run_interruptibly
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.errors import InputError

Candidates: TypeAlias = Literal["neighbors", "all"]

ROW_ERROR = 1e-8
"""Embedding rows carry the error of an eigensolver, which must not decide between equal groups."""
BACKGROUND_WORK = 1e8
"""More multiplications than this, a tenth of a second, are made in a second thread."""
BACKGROUND_ENTRIES = 1_000_000
"""Sweeps over more matrix entries than this are made in a second thread."""


class Groups(NamedTuple):
    """Sums over the nodes of each group, kept up to date while nodes move."""

    # Node weights.
    s: Floats
    # Association: matrix entries between nodes of the group, diagonal included.
    Q: Floats
    # Number of nodes.
    size: Ints

    def objective(self) -> float:
        """Return the sum of Q_a / s_a; an empty group adds nothing."""
        filled = self.s > 0
        return float(np.sum(self.Q[filled] / self.s[filled]))


def check_labels(z: Ints, k: int) -> None:
    """Raise unless every label lies in ``range(k)``; the kernels do not check bounds."""
    bad = np.flatnonzero((z < 0) | (z >= k))
    if bad.size:
        msg = f"labels must lie in range({k}), got {z[bad[0]]} for node {bad[0]}."
        raise InputError(msg)


def group_sums(z: Indices, values: Floats, k: int) -> Floats:
    """Return the sum of values over each of ``k`` groups."""
    return np.asarray(np.bincount(z, weights=values, minlength=k), dtype=float)


def group_totals(M: CSR, diagonal: Floats, w: Floats, z: Ints, *, k: int) -> Groups:
    """Return weight, association and size of every group.

    ``diagonal`` holds the diagonal of the symmetric matrix M, whose own entries there are ignored;
    ``w`` are positive node weights, and labels lie in ``range(k)``.
    """
    from kgroups.hartigan._sweep_nb import add_totals

    check_labels(z, k)
    groups = Groups(np.zeros(k), np.zeros(k), np.bincount(z, minlength=k))
    add_totals(readonly(M), diagonal, w, z, groups.s, groups.Q)
    return groups


def group_association(M: CSR, diagonal: Floats, w: Floats, z: Ints, *, k: int) -> float:
    r"""Return the weighted group association Q of a labeling.

    .. math:: Q(z) = \sum_a Q_a / s_a, \quad
        Q_a = \sum_{z_i = z_j = a} M_{ij}, \quad s_a = \sum_{z_i = a} w_i

    An empty group adds nothing. Parameters are those of :func:`group_totals`; the equation is
    *group-association* of the theory page.

    Examples
    --------
    >>> swap = CSR(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 1.0]))
    >>> group_association(swap, np.zeros(2), np.ones(2), np.array([0, 0]), k=2)  # edge inside
    1.0
    >>> group_association(swap, np.zeros(2), np.ones(2), np.array([0, 1]), k=2)  # edge cut
    0.0
    """
    return group_totals(M, diagonal, w, z, k=k).objective()


class Outcome(NamedTuple):
    """Labels after the last sweep, the totals of their groups, and the work done."""

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
    margin: float = 0.0,
    max_sweeps: int = 100,
) -> Outcome:
    r"""Move nodes one at a time while the group association Q rises; no group is emptied.

    Moving node i from a to b changes Q by

    .. math:: \Delta Q = \frac{w_i Q_a/s_a - 2 Q_a(i) + M_{ii}}{s_a - w_i}
        - \frac{w_i Q_b/s_b - 2 Q_b(i) - M_{ii}}{s_b + w_i}

    with :math:`Q_a(i) = \sum_{j \in a} M_{ij}`. The node goes where the gain is largest; ties go
    to the group with the lowest number. One sweep costs O(nnz) with neighboring groups as
    candidates and O(nnz + n k) with all of them.

    Parameters
    ----------
    M : CSR of shape (n, n)
        Any symmetric matrix; its diagonal entries are ignored, ``diagonal`` holds them.
    diagonal, w : ndarray of shape (n,)
        Diagonal of M, and positive node weights.
    z : ndarray of shape (n,)
        First labels in ``range(k)``; not modified.
    k : int
        Number of groups.
    candidates : {"neighbors", "all"}
        Which groups a node may join.
    margin : float
        Least gain of a move, in units of the mean absolute entry of M.
    max_sweeps : int
        Sweeps after which the labels are returned as they are, ``converged`` false.

    Returns
    -------
    Outcome
        ``visits`` counts the entries of M that the sweeps read: nnz in every sweep.
    """
    from kgroups.hartigan._sweep_nb import improve_labels

    M = readonly(M)
    z = z.astype(np.int64, copy=True)
    groups = group_totals(M, diagonal, w, z, k=k)
    large = M.indices.size > BACKGROUND_ENTRIES
    run = partial(run_interruptibly, improve_labels) if large else improve_labels
    every = candidates == "all"
    sweeps, moves, converged = run(
        M, diagonal, w, every, float(margin), int(max_sweeps), z, groups, new_tally()
    )
    visits = sweeps * M.indices.size
    return Outcome(z, groups.objective(), sweeps, moves, visits, converged, groups.s, groups.Q)


def improve_rows(
    X: Floats, z: Ints, *, k: int, max_sweeps: int = 50, background_work: float = BACKGROUND_WORK
) -> tuple[Ints, float]:
    """Lower the k-means cost of the rows of X by Hartigan moves; no group is emptied.

    Returns labels when no row moves any more, or after ``max_sweeps``, and the sum of squared
    distances of the rows to the mean of their group. If ``max_sweeps`` take more multiplications
    than ``background_work``, a second thread makes them, so that Ctrl-C is handled at once.
    """
    from kgroups.hartigan import _sweep_nb as kernels

    z = z.astype(np.int64, copy=True)
    large = float(max_sweeps) * X.size * k > background_work
    run = partial(run_interruptibly, kernels.improve_rows) if large else kernels.improve_rows
    return z, run(X, z, k, ROW_ERROR, max_sweeps, new_tally())
