"""Group association, the objective of Hartigan moves, and sweeps until no node moves."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import rows_of, writable
from kgroups._progress import new_control, run_kernel
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.errors import InputError
from kgroups.hartigan import _kmeans_nb as kernels
from kgroups.hartigan._sweeps_nb import move_nodes

Candidates: TypeAlias = Literal["neighbors", "all"]
ROW_ERROR = 1e-8
"""Embedding rows carry the error of an eigensolver, which must not decide between equal groups."""
SWEEPS_EXPECTED = 20
"""Sweeps of one start of k-means, for the estimate of its work."""
WORK_PER_ENTRY = 200
"""Multiplications that take as long as the visits to a matrix entry that is read many times."""
# Sweeps of one start of k-means at most.
_MAX_SWEEPS = 50


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
    check_labels(z, k)
    rows = rows_of(M)
    inside = (rows != M.indices) & (z[rows] == z[M.indices])
    Q = group_sums(z, diagonal, k) + group_sums(z[rows[inside]], M.data[inside], k)
    return Groups(group_sums(z, w, k), Q, np.bincount(z, minlength=k))


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
    check_labels(z, k)
    whole, every = np.array([0, z.size]), np.zeros(1, dtype=np.int64)
    found = improve_components(
        M,
        diagonal,
        w,
        whole,
        every,
        np.array([k]),
        z,
        candidates=candidates,
        margin=margin,
        max_sweeps=max_sweeps,
    )
    sweeps, moves, converged = found.done[0].tolist()
    objective = found.groups.objective()
    visits = sweeps * len(M.indices)
    s, Q, _ = found.groups
    return Outcome(found.z, objective, sweeps, moves, visits, bool(converged), s, Q)


class Improved(NamedTuple):
    """Labels after the last sweep in some components, and the work done."""

    # Labels from 0 in each component.
    z: Ints
    groups: Groups
    # For each component: sweeps, moves, and 1 if the last sweep moved nothing.
    done: Ints


def improve_components(
    M: CSR,
    diagonal: Floats,
    w: Floats,
    offsets: Ints,
    which: Ints,
    k: Ints,
    z: Ints,
    *,
    candidates: Candidates,
    margin: float,
    max_sweeps: int,
) -> Improved:
    """Do in some components of a graph what :func:`improve` does.

    ``offsets`` says where they start; they have ``k`` groups, whose labels start from 0 in each.
    """
    counts = np.zeros_like(k)
    counts[which] = k[which]
    firsts = np.concatenate([[0], np.cumsum(counts)])
    total, most = int(firsts[-1]), int(counts.max(initial=0))
    groups = Groups(np.zeros(total), np.zeros(total), np.zeros(total, dtype=np.int64))
    z, done = z.astype(np.int64, copy=True), np.zeros((k.size, 3), dtype=np.int64)
    # Equal entries are one number with stride 0; the kernel takes an array of one.
    data = M.data[:1] if M.data.strides == (0,) else M.data
    run_kernel(
        move_nodes,
        len(M.indices),
        *map(writable, (M.indptr, M.indices, data, diagonal, w)),
        offsets,
        which,
        firsts,
        candidates == "all",
        float(margin),
        int(max_sweeps),
        z,
        *groups,
        np.zeros(most),
        np.zeros(most, dtype=np.bool_),
        np.empty(most, dtype=np.int64),
        done,
        new_control(),
    )
    return Improved(z, groups, done)


def improve_rows(X: Floats, z: Ints, *, k: int, max_sweeps: int = 50) -> tuple[Ints, float]:
    """Lower the k-means cost of the rows of X by Hartigan moves; no group is emptied.

    Returns labels when no row moves any more, or after ``max_sweeps``, and the sum of squared
    distances of the rows to the mean of their group.
    """
    n, p = X.shape
    z, flat = z.astype(np.int64, copy=True), np.ascontiguousarray(X, dtype=float).ravel()
    arguments = flat, 0, p, k, ROW_ERROR, max_sweeps, z, *_row_scratch(n, p, k), new_control()
    return z, float(run_kernel(kernels.improve_rows, n * p * k, *arguments))


def best_kmeans(
    tables: Sequence[Floats], k: Sequence[int], draws: Sequence[Floats], starts: Sequence[int]
) -> list[Ints]:
    """Group the rows of each table by k-means, the best of several starts.

    Row t of its ``draws`` has the random numbers of start t: one for the first center, and as many
    for each center as rows are drawn for it.
    """
    rows, columns = np.array([table.shape for table in tables]).T.copy()
    numbers = np.array(k)
    trials = np.array([(one.shape[1] - 1) // of for one, of in zip(draws, k, strict=True)])
    firsts = np.concatenate([[0], np.cumsum([one.size for one in draws])])
    n, p, most, tried = (int(one.max()) for one in (rows, columns, numbers, trials))
    z = np.empty(int(rows.sum()), dtype=np.int64)
    work = float((rows * columns * numbers) @ np.array(starts))
    run_kernel(
        kernels.best_kmeans,
        int(SWEEPS_EXPECTED * work / WORK_PER_ENTRY),
        np.concatenate([np.ascontiguousarray(table, dtype=float).ravel() for table in tables]),
        np.array(starts),
        rows,
        columns,
        np.cumsum(rows * columns) - rows * columns,
        numbers,
        trials,
        np.concatenate([one.ravel() for one in draws]),
        firsts,
        ROW_ERROR,
        _MAX_SWEEPS,
        z,
        np.empty(n, dtype=np.int64),
        np.empty(n),
        np.empty(n),
        np.empty((tried, n)),
        np.empty((p, n)),
        np.empty(tried),
        np.empty(tried, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        *_row_scratch(n, p, most),
        new_control(),
    )
    return np.split(z, np.cumsum(rows)[:-1])


def _row_scratch(n: int, p: int, k: int) -> tuple[Any, ...]:
    """Return the arrays in which kernels keep sizes, sums, squares, visits, changes and links."""
    size, changed = np.empty((2, k), dtype=np.int64)
    visited = np.empty(n, dtype=np.int64)
    return size, np.empty((k, p)), np.empty(k), visited, changed, np.empty(p), np.empty(k)
