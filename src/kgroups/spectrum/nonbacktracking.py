r"""Spectral radius of the non-backtracking matrix B, without building B where that can be avoided.

B has a row for each direction of each edge, :math:`B_{(i \to j),(j \to l)} = v_{jl}` for l other
than i. By the formula of Ihara and Bass, for :math:`\lambda > \max v` the matrix

.. math:: H_v(\lambda)_{ij} = \delta_{ij}
    \Bigl(1 + \sum_l \frac{v_{il}^2}{\lambda^2 - v_{il}^2}\Bigr)
    - \frac{\lambda v_{ij}}{\lambda^2 - v_{ij}^2}

is singular exactly at the eigenvalues of B. So :math:`\rho(B)` is the largest :math:`\lambda` at
which the top eigenvalue of its normalized form is 1: a symmetric problem of size n.
"""

import math

import numpy as np

from kgroups._blas import DENSE, DenseLimits, single_threaded
from kgroups._csr import row_sums, rows_of
from kgroups._types import CSR, Floats

# Relative error of the radius.
_TOLERANCE = 1e-9
# Closer to the largest entry the root cannot be distinguished from it in double precision.
_FLOOR = 1.0 + 1e-7
# Power iterations before the root search, on small and on large graphs; and instead of it, where
# ARPACK fails.
_STEPS_SMALL, _STEPS_LARGE, _STEPS_ALONE = 20, 60, 2_000


def radius_above_entries(csr: CSR, entries: Floats, *, limits: DenseLimits = DENSE) -> float:
    """Return rho(B) if it is above the largest entry, and 0 otherwise.

    ``csr`` is a symmetric pattern with sorted columns, in which a self-loop is one directed edge
    and its own reverse. ``entries`` are the positive v: 1 without weights, else squared weights.
    Trees attached to the graph change neither rho nor the sign of any pivot and are not removed.
    """
    if entries.size == 0:
        return 0.0
    n = len(csr.indptr) - 1
    scale = float(entries.max())
    v = entries / scale
    dense = n <= limits.one_eigenpair
    # Some steps on the edges give a start near the root, or the root where they converge.
    guess, residual, start = _iterate_on_edges(csr, v, _STEPS_SMALL if dense else _STEPS_LARGE)
    if residual > _TOLERANCE:
        try:
            return scale * _root(_NormalizedForm(csr, v, dense=dense), guess, start)
        except RuntimeError:
            # ARPACK may fail where many components share the top eigenvalue.
            guess, _, _ = _iterate_on_edges(csr, v, _STEPS_ALONE)
    return scale * guess if guess > _FLOOR else 0.0


class _NormalizedForm:
    """The normalized form of H_v at any lambda, for entries v of at most 1."""

    def __init__(self, csr: CSR, v: Floats, *, dense: bool) -> None:
        self.csr, self.v, self.rows, self.n = csr, v, rows_of(csr), len(csr.indptr) - 1
        self.dense = dense

    def top(self, lam: float, start: Floats) -> tuple[float, Floats, float]:
        """Return the top eigenvalue, its eigenvector and its derivative with respect to lambda."""
        v, rows, columns = self.v, self.rows, self.csr.indices
        rest = lam * lam - v * v
        diagonal = 1.0 + row_sums(rows, v * v / rest, self.n)
        scale = 1.0 / np.sqrt(diagonal)
        nu, y = self._top_pair(lam * v / rest * scale[rows] * scale[columns], start)
        x = y * scale
        # d nu = x (dG - nu dDelta) x, with G the coupling and Delta the diagonal.
        change_of_coupling = -v * (lam * lam + v * v) / (rest * rest)
        change_of_diagonal = -2.0 * lam * v * v / (rest * rest)
        at_rows = x[rows]
        slope = (at_rows * x[columns]) @ change_of_coupling
        slope -= nu * (np.square(at_rows) @ change_of_diagonal)
        return nu, y, float(slope)

    def _top_pair(self, data: Floats, start: Floats) -> tuple[float, Floats]:
        from scipy import sparse

        shape = (self.n, self.n)
        matrix = sparse.csr_array((data, self.csr.indices, self.csr.indptr), shape=shape)
        if self.dense:
            with single_threaded(self.n):
                values, vectors = np.linalg.eigh(matrix.toarray())
            return float(values[-1]), vectors[:, -1]
        from scipy.sparse.linalg import eigsh

        values, vectors = eigsh(matrix, k=1, which="LA", v0=start, tol=1e-9, ncv=24, maxiter=300)
        return float(values[0]), vectors[:, 0]


def _root(form: _NormalizedForm, guess: float, start: Floats) -> float:
    """Return the lambda above ``_FLOOR`` at which the top eigenvalue falls below 1, or 0.

    Newton's method with bisection where it leaves the bracket.
    """
    low, high = _FLOOR, max(float(row_sums(form.rows, form.v, form.n).max()), 2.0 * _FLOOR)
    lam = min(max(low, guess), high)
    for _ in range(200):
        nu, start, slope = form.top(lam, start)
        if nu > 1.0:
            low = lam
        elif lam == _FLOOR:
            return 0.0
        else:
            high = lam
        # At the largest entry the eigenvalue is 1 too, but increases: that is not the root.
        following = lam + (1.0 - nu) / slope if slope < 0.0 else math.inf
        if abs(following - lam) <= _TOLERANCE * lam or high - low <= _TOLERANCE * lam:
            return min(max(following, low), high)
        if following <= _FLOOR and low == _FLOOR:
            following = _FLOOR
        elif not low < following < high:
            following = math.sqrt(low * high)
        lam = following
    return lam


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
