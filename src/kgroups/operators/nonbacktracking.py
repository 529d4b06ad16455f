r"""Spectral radius of the non-backtracking matrix B, without building B where that can be avoided.

Ihara and Bass: for :math:`\lambda > \max v` the matrix

.. math:: H_v(\lambda)_{ij} = \delta_{ij}
    \Bigl(1 + \sum_l \frac{v_{il}^2}{\lambda^2 - v_{il}^2}\Bigr)
    - \frac{\lambda v_{ij}}{\lambda^2 - v_{ij}^2}

is singular exactly at the eigenvalues of B. So :math:`\rho(B)` is the largest :math:`\lambda` at
which the top eigenvalue of its normalised twin is 1: a symmetric problem of size n, where B has a
row for each direction of each edge.
"""

import math

import numpy as np

from kgroups._blas import single_threaded
from kgroups._csr import rows_of
from kgroups._types import CSR, Floats, Ints
from kgroups.errors import ConvergenceError
from kgroups.operators.rows import row_sums

__all__ = ["nonbacktracking_radius", "radius_above_entries"]

_DENSE_NODES = 150
_TOLERANCE = 1e-9
_MAX_STEPS = 20_000


def nonbacktracking_radius(csr: CSR, entries: Floats) -> float:
    r"""Return rho(B) with :math:`B_{(i \to j),(j \to l)} = v_{jl}` for l other than i.

    Parameters
    ----------
    csr : CSR
        Symmetric pattern with sorted columns. A self-loop is one directed edge, its own reverse.
    entries : ndarray
        The positive v of each entry: 1 unweighted, the squared weights in the weighted form.

    Returns
    -------
    float
        0 for a forest.

    Raises
    ------
    ConvergenceError
        If rho is not above the largest entry and iterating on the edges does not settle.

    Examples
    --------
    The complete graph on four nodes: every directed edge has two ways on.

    >>> from kgroups import Graph
    >>> graph = Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    >>> round(nonbacktracking_radius(graph.csr, np.ones(12)), 9)
    2.0
    """
    if not _has_cycle(csr):
        return 0.0
    rho = radius_above_entries(csr, entries)
    if rho > 0.0:
        return rho
    scale = float(entries.max())
    if float(entries.min()) == scale:
        return scale
    rho, residual, _ = _iterate_on_edges(csr, entries / scale, _MAX_STEPS)
    if residual > _TOLERANCE:
        msg = (
            f"the non-backtracking radius did not settle in {_MAX_STEPS} steps; the last value "
            f"was {scale * rho:.6g}, with a relative residual of {residual:.1e}."
        )
        raise ConvergenceError(msg)
    return scale * rho


def radius_above_entries(csr: CSR, entries: Floats) -> float:
    """Return rho(B) if it is above the largest entry, and 0 otherwise.

    Trees hanging on the graph change neither rho nor the sign of any pivot, so they stay.
    """
    if entries.size == 0:
        return 0.0
    n = len(csr.indptr) - 1
    rows = rows_of(csr)
    scale = float(entries.max())
    v = entries / scale
    twin = _Twin(csr, rows, v, n)
    # Closer to the largest entry the root cannot be told from it in double precision.
    floor = 1.0 + 1e-7
    high = max(float(row_sums(rows, v, n).max()), 2.0 * floor)
    # Some steps on the edges give a start near the root, or the root where they settle.
    guess, residual, start = _iterate_on_edges(csr, v, 20 if n <= _DENSE_NODES else 60)
    if residual <= _TOLERANCE:
        return scale * guess if guess > floor else 0.0
    lam = min(max(floor, guess), high)
    try:
        return scale * _root(twin, lam, floor, high, start)
    except RuntimeError:
        # ARPACK gave up, as it may where many components share the top eigenvalue.
        guess, _, _ = _iterate_on_edges(csr, v, _MAX_STEPS // 10)
        return scale * guess if guess > floor else 0.0


def _root(twin: "_Twin", lam: float, floor: float, high: float, start: Floats) -> float:
    """Return the lambda above ``floor`` at which the top eigenvalue falls through 1, or 0."""
    low = floor
    for _ in range(200):
        nu, start, slope = twin.top(lam, start)
        if nu > 1.0:
            low = lam
        elif lam == floor:
            return 0.0
        else:
            high = lam
        # The eigenvalue is 1 at the largest entry too, and rises there: not the root meant.
        following = lam + (1.0 - nu) / slope if slope < 0.0 else math.inf
        if abs(following - lam) <= _TOLERANCE * lam or high - low <= _TOLERANCE * lam:
            return min(max(following, low), high)
        if following <= floor and low == floor:
            following = floor
        elif not low < following < high:
            following = math.sqrt(low * high)
        lam = following
    return lam


class _Twin:
    """The normalised twin of H_v at any lambda, for entries v of at most 1."""

    def __init__(self, csr: CSR, rows: Ints, v: Floats, n: int) -> None:
        self.csr, self.rows, self.v, self.n = csr, rows, v, n

    def top(self, lam: float, start: Floats) -> tuple[float, Floats, float]:
        """Return the top eigenvalue, its eigenvector and its derivative by lambda."""
        v, rows, columns = self.v, self.rows, self.csr.indices
        room = lam * lam - v * v
        diagonal = 1.0 + row_sums(rows, v * v / room, self.n)
        scale = 1.0 / np.sqrt(diagonal)
        data = lam * v / room * scale[rows] * scale[columns]
        nu, y = self._top_pair(data, start)
        x = y * scale
        # d nu = x (dG - nu dDelta) x, with G the coupling and Delta the diagonal.
        change_of_coupling = -v * (lam * lam + v * v) / (room * room)
        change_of_diagonal = -2.0 * lam * v * v / (room * room)
        at_rows = x[rows]
        slope = (at_rows * x[columns]) @ change_of_coupling
        slope -= nu * (np.square(at_rows) @ change_of_diagonal)
        return nu, y, float(slope)

    def _top_pair(self, data: Floats, start: Floats) -> tuple[float, Floats]:
        if self.n <= _DENSE_NODES:
            dense = np.zeros((self.n, self.n))
            dense[self.rows, self.csr.indices] = data
            with single_threaded(self.n):
                values, vectors = np.linalg.eigh(dense)
            return float(values[-1]), vectors[:, -1]
        from scipy import sparse
        from scipy.sparse.linalg import eigsh

        shape = (self.n, self.n)
        matrix = sparse.csr_array((data, self.csr.indices, self.csr.indptr), shape=shape)
        values, vectors = eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9, ncv=24, maxiter=300)
        return float(values[0]), vectors[:, 0]


def _has_cycle(csr: CSR) -> bool:
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    n, nnz = len(csr.indptr) - 1, len(csr.indices)
    rows = rows_of(csr)
    loop = rows == csr.indices
    pattern = sparse.csr_array((np.ones(nnz), csr.indices, csr.indptr), shape=(n, n))
    parts, labels = connected_components(pattern, directed=False)
    loops = np.bincount(labels[rows[loop]], minlength=parts)
    edges = np.bincount(labels[rows[~loop]], minlength=parts) // 2
    # A loop is not walked twice in a row, so one of them in a tree leads nowhere.
    return bool(np.any((edges >= np.bincount(labels, minlength=parts)) | (loops >= 2)))


def _iterate_on_edges(csr: CSR, v: Floats, steps: int) -> tuple[float, float, Floats]:
    """Return rho, its relative residual and the sums at the nodes after some power iterations.

    Reversing all edges turns right eigenvectors of B into left ones, so the quotient is two-sided
    and its error the square of the residual.
    """
    rows, n = rows_of(csr), len(csr.indptr) - 1
    reverse = np.argsort(csr.indices, kind="stable")
    x = np.ones(len(v))
    rho, residual, sums = 0.0, math.inf, np.ones(n)
    for _ in range(steps):
        flow = v * x
        left = flow[reverse]
        sums = row_sums(rows, flow, n)
        y = sums[csr.indices] - left
        below = float(left @ x)
        if below > 0.0:
            rho = float(left @ y) / below
            distance = float(np.linalg.norm(y - rho * x) / np.linalg.norm(x))
            residual = distance / max(rho, 1e-300)
            if residual <= _TOLERANCE:
                break
        # The shift breaks the period of graphs whose cycles share a length.
        x = y + 0.5 * max(rho, 0.1) * x
        x /= float(np.linalg.norm(x))
    return rho, residual, sums + 1e-3 * float(sums.max())
