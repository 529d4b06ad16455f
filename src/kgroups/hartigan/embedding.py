"""First labels: embedding rows from eigenvectors, and methods that group them.

The rows of a community lie close together. They are grouped by k-means or pivoted QR; existing
labels may take their place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._blas import DENSE, DenseLimits
from kgroups._csr import writable
from kgroups._csr_nb import spread
from kgroups._progress import new_control, run_kernel
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups._validation import changed_options, check_choice, check_integer, check_real
from kgroups.hartigan import _hartigan_nb as kernels
from kgroups.spectrum import BoundOperator, largest_eigenpairs, start_vector, top_eigenpairs

RowLength: TypeAlias = Literal["normalized", "raw"]

_ROWS = ("normalized", "raw")
ROW_ERROR = 1e-8
"""Embedding rows carry the error of an eigensolver, which must not decide between equal groups."""
SWEEPS_EXPECTED = 20
"""Sweeps of one start of k-means, for the estimate of its work."""
WORK_PER_ENTRY = 200
"""Multiplications that take as long as the visits to a matrix entry that is read many times."""
# Sweeps of one start of k-means at most.
_MAX_SWEEPS = 50
# Multiplications of all k-means starts together: a few seconds.
_MAX_WORK = 4e9
# Rows have length 1. On symmetric graphs many are equal up to rounding, which differs between
# machines: the first of them is taken.
_QR_TIE = 1e-8
EQUAL = 1e-8
"""Eigenvalues closer than this are equal up to the error of the solver."""
# Coordinates are rounded to one in this many parts, so that the error of the solver does not
# decide between symmetric nodes.
_PARTS = 1e10
# Rows shorter than this part of the longest are mostly the error of the solver.
_LEAST_LENGTH = 1e-7


def informative_eigenpairs(
    hessian: BoundOperator, count: int, rows: RowLength, *, limits: DenseLimits = DENSE
) -> tuple[Floats, Floats]:
    """Return eigenvalues, most informative first, and their eigenvectors as columns.

    For ``"normalized"`` rows these are the top eigenpairs of N_r; for ``"raw"`` rows the lowest
    eigenvectors of H_r, as in the paper, with the sign of the eigenvalues reversed. Eigenvectors of
    equal eigenvalues are rotated to a basis that does not depend on the solver. On graphs up to
    ``limits.canonical_eigenpairs`` nodes all of them are computed densely, so that this holds to
    the digits that are used, even if ``count`` cuts through equal eigenvalues.
    """
    find, n = top_eigenpairs if rows == "normalized" else _lowest_of_hessian, hessian.n
    number = min(n, count + 1) if n <= limits.canonical_eigenpairs else count
    lam, V = find(hessian, number, limits=limits)
    if count < len(lam) < n and np.any(lam[1:] >= lam[:-1] - EQUAL):
        # Lanczos may miss copies of a multiple eigenvalue, and its vectors are less precise.
        lam, V = find(hessian, n, limits=limits)
    return lam[:count], _in_canonical_basis(lam, V)[:, :count]


def _lowest_of_hessian(
    hessian: BoundOperator, count: int, *, limits: DenseLimits
) -> tuple[Floats, Floats]:
    """Return the lowest eigenpairs of H_r, with the sign of the eigenvalues reversed."""
    H = hessian.matrix()
    if hessian.n <= limits.canonical_eigenpairs or count >= hessian.n - 1:
        lam, V = np.linalg.eigh(H.toarray())
        return -lam[:count], V[:, :count]
    from scipy import sparse

    # A shift by Gershgorin's bound turns the lowest eigenvalues of H into the largest.
    shift = float(2.0 * hessian.scale.max() + abs(H).sum(axis=1).max())
    shifted = sparse.diags_array(np.full(hessian.n, shift), format="csr") - H
    lam, V = largest_eigenpairs(shifted, count, start_vector(hessian))
    return lam - shift, V


def _in_canonical_basis(lam: Floats, V: Floats) -> Floats:
    """Rotate the eigenvectors of equal eigenvalues towards fixed directions."""
    runs = np.split(np.arange(lam.size), np.flatnonzero(np.diff(lam) < -EQUAL) + 1)
    if all(run.size < 2 for run in runs):
        return V
    V = V.copy()
    for run in runs:
        if run.size > 1:
            fixed = np.random.default_rng(run.size).standard_normal((V.shape[0], run.size))
            basis, triangle = np.linalg.qr(V[:, run] @ (V[:, run].T @ fixed))
            V[:, run] = basis * np.where(np.diag(triangle) < 0.0, -1.0, 1.0)
    return V


def embedding_rows(V: Floats, rows: RowLength) -> Floats:
    """Return one row of coordinates per node, rounded, so that no solver's error breaks a tie.

    Rows of length 1 put the nodes of a community at one point whatever their degree.
    """
    if rows == "normalized":
        V = V / np.maximum(_lengths(V), np.finfo(float).tiny)[:, np.newaxis]
    return np.rint(V * _PARTS) / _PARTS


def strong_rows(V: Floats) -> Bools:
    """Return which rows are longer than the error of the solver.

    Along a path away from the communities eigenvectors decay below that error.
    """
    length = _lengths(V)
    return np.asarray(length >= _LEAST_LENGTH * length.max(initial=0.0))


def _lengths(V: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ic,ic->i", V, V)))


def spread_labels(A: CSR, z: Ints) -> Ints:
    """Give each node with label -1 the label of the nearest labeled node, breadth first.

    Ties go to the labeled node that comes first. Nodes that no labeled node reaches keep -1.
    """
    z = z.copy()
    spread(writable(A.indptr), writable(A.indices), z, np.empty(z.size, dtype=np.int64))
    return z


@lru_cache(maxsize=16)
def _draws(entropy: int, k: int, starts: int) -> Floats:
    """Return the random numbers of all starts of k-means with k groups, a row each."""
    # Cached, as drawing them takes longer than k-means on a small graph.
    trials = 2 + int(np.log(k))
    return np.random.default_rng([entropy, k]).random((starts, 1 + k * trials))


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


@dataclass(frozen=True)
class KMeansInit:
    """Group embedding rows by k-means: k-means++ starts and Hartigan moves.

    Parameters
    ----------
    rows : {"normalized", "raw"}
        Top eigenvectors of N_r with rows of length 1, or the lowest eigenvectors of H_r as they
        are (the paper's choice).
    n_init : int
        Number of starts, of which the best is kept; fewer on large problems.
    max_work : float
        Multiplications that all starts together may take. On larger problems fewer starts are
        made, at least two.

    Examples
    --------
    >>> KMeansInit(rows="raw").n_init
    10
    """

    rows: RowLength = "normalized"
    n_init: int = 10
    max_work: float = _MAX_WORK

    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_choice("rows", self.rows, _ROWS)
        check_integer("n_init", self.n_init)
        check_real("max_work", self.max_work, low=0.0)

    def labels(self, tables: Sequence[Floats], k: Sequence[int], entropy: int) -> list[Ints]:
        """Return ``k`` non-empty groups of the rows of each table; random numbers share a seed."""
        starts = [
            int(min(self.n_init, max(2, self.max_work // (X.size * count * SWEEPS_EXPECTED))))
            for X, count in zip(tables, k, strict=True)
        ]
        draws = [_draws(entropy, count, self.n_init) for count in k]
        return best_kmeans(tables, k, draws, starts) if tables else []


@dataclass(frozen=True)
class QRInit:
    """Group embedding rows by column-pivoted QR: deterministic and without iterations.

    Parameters
    ----------
    rows : {"normalized", "raw"}
        As for :class:`KMeansInit`.
    """

    rows: RowLength = "normalized"

    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_choice("rows", self.rows, _ROWS)

    def labels(self, tables: Sequence[Floats], k: Sequence[int], entropy: int) -> list[Ints]:
        """Return ``k`` non-empty groups of the rows of each table; nothing is drawn.

        The pivots of a QR factorization of the transpose are k rows that point as far apart as
        possible. The orthogonal matrix nearest to them rotates the axes towards the groups, and
        each row belongs to the axis on which it is longest. Ties up to rounding go to the first
        row and the lowest axis, on every machine.
        """
        del entropy
        return [_labels_by_qr(X[:, :count]) for X, count in zip(tables, k, strict=True)]


def _labels_by_qr(X: Floats) -> Ints:
    pivots = _pivots(X)
    U, _, Wt = np.linalg.svd(X[pivots].T, full_matrices=False)
    rotated = np.abs(X @ (U @ Wt))
    longest = rotated >= rotated.max(axis=1, keepdims=True) - _QR_TIE
    z: Ints = np.argmax(longest, axis=1).astype(np.int64)
    z[pivots] = np.arange(X.shape[1])
    return z


def _pivots(X: Floats) -> Ints:
    """Return k different rows, each with the longest part outside of the span of those before.

    LAPACK's pivoted QR does the same, but its ties depend on the last digits.
    """
    rest = X.copy()
    left = np.einsum("ic,ic->i", X, X)
    tie = _QR_TIE * float(left.max(initial=0.0))
    pivots = np.empty(X.shape[1], dtype=np.int64)
    for position in range(pivots.size):
        pivot = int(np.argmax(left >= left.max() - tie))
        pivots[position] = pivot
        if left[pivot] > tie:
            direction = rest[pivot] / np.sqrt(left[pivot])
            rest -= np.outer(rest @ direction, direction)
            left = np.einsum("ic,ic->i", rest, rest)
        left[pivots[: position + 1]] = -np.inf
    return pivots


Init = KMeansInit | QRInit


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Start from existing labels, such as those of an earlier version of the graph.

    Nodes are matched by name. Each new node starts as a separate community, and nodes that have
    vanished are dropped; ``report`` says how many of each. Graph and labels must share at least one
    node.

    Parameters
    ----------
    partition : Partition, sets of nodes, labels in node order, or dict from node to label
        Where to start from; labels without names need one per node. Communities of the result may
        be more or fewer.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> G = nx.ring_of_cliques(6, 5)
    >>> yesterday = kg.detect_communities(G)
    >>> G.remove_node(0)
    >>> G.add_edges_from([(9, "new"), (8, "new"), (7, "new")])
    >>> today = kg.detect_communities(G, init=WarmStart(yesterday))
    >>> today.sizes.tolist()
    [6, 5, 5, 5, 5, 4]
    >>> today.report.nodes_new, today.report.nodes_vanished
    (1, 1)
    """

    partition: Any
