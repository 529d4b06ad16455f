"""Extreme eigenpairs of N_r: dense on small graphs, by Lanczos on others."""

import inspect
from typing import Any

import numpy as np

from kgroups._blas import DENSE, DenseLimits
from kgroups._csr import rows_of
from kgroups._types import Floats
from kgroups._wording import in_python
from kgroups.errors import ConvergenceError
from kgroups.spectrum.operators import BoundOperator

# Tolerance of ARPACK, and of a search that only checks whether any eigenpair is left.
_TOLERANCE, _ROUGH_TOLERANCE = 1e-10, 1e-4
# Residuals up to this are accepted; ARPACK may stop with larger ones.
_RESIDUAL = 1e-7


class PartialEigenpairsError(ConvergenceError):
    """The eigensolver stopped early; holds the pairs that had converged, in decreasing order."""

    def __init__(self, message: str, eigenvalues: Floats, eigenvectors: Floats) -> None:
        super().__init__(message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


def top_eigenpairs(
    hessian: BoundOperator, count: int, *, limits: DenseLimits = DENSE
) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of N_r, in decreasing order, and their eigenvectors.

    In each eigenvector the entry of largest size is positive, the first one in a tie. The graph
    should be connected: Lanczos finds the equal eigenvalues of several components only one by one.
    If it does not converge on a graph too large for a dense solver, PartialEigenpairsError is
    raised.
    """
    n = hessian.n
    if count == 0:
        return np.zeros(0), np.zeros((n, 0))
    many = 8 * count >= n and n <= limits.fallback
    if n <= limits.eigenpairs or many or count >= n - 1:
        lam, V = _dense(hessian)
    else:
        try:
            lam, V = largest_eigenpairs(hessian.normalized_matrix(), count, start_vector(hessian))
        except PartialEigenpairsError:
            if n > limits.fallback:
                raise
            lam, V = _dense(hessian)
    return lam[:count], _with_fixed_signs(V[:, :count])


def largest_eigenpairs(matrix: Any, count: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the largest eigenpairs of a symmetric matrix or operator, in decreasing order.

    A Krylov method started from one vector may miss copies of an equal eigenvalue; a second
    search in the complement of what was found recovers them.
    """
    lam, V = lanczos_pairs(matrix, count, start)
    above = float(lam[-1]) + 1e-7 * max(1.0, abs(float(lam[-1])))
    lam, V = _with_missed_copies(matrix, lam, V, above=above)
    return lam[:count], V[:, :count]


def rough_top(hessian: BoundOperator, *, sign: int, tolerance: float = 1e-3) -> float:
    """Return the largest eigenvalue of ``sign * N`` to about three digits, rounded down."""
    if hessian.n <= DENSE.eigenpairs:
        return float(all_eigenvalues(hessian, sign=sign)[0])
    matrix = hessian.normalized_matrix() * float(sign)
    return float(lanczos_pairs(matrix, 1, start_vector(hessian), tolerance=tolerance)[0][0])


def all_eigenvalues(hessian: BoundOperator, *, sign: int) -> Floats:
    """Return all eigenvalues of ``sign * N``, in decreasing order, from the dense matrix."""
    values = np.linalg.eigvalsh(_dense_matrix(hessian)).astype(np.float64, copy=False)
    return values[::-1] if sign > 0 else -values


def start_vector(hessian: BoundOperator) -> Floats:
    """Return a vector near the top eigenvector for Lanczos to start from."""
    # On regular graphs it must not be exactly that eigenvector, where Lanczos would stop.
    return np.sqrt(hessian.scale) * (0.5 + np.random.default_rng(0).random(hessian.n))


def _dense(hessian: BoundOperator) -> tuple[Floats, Floats]:
    lam, V = np.linalg.eigh(_dense_matrix(hessian))
    return lam[::-1], V[:, ::-1]


def _dense_matrix(hessian: BoundOperator) -> Floats:
    dense = np.zeros((hessian.n, hessian.n))
    dense[rows_of(hessian.normalized), hessian.normalized.indices] = hessian.normalized.data
    return dense


def lanczos_pairs(
    matrix: Any, count: int, start: Floats, *, tolerance: float = _TOLERANCE
) -> tuple[Floats, Floats]:
    """Return the largest eigenpairs that one run of Lanczos finds, in decreasing order."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

    n = matrix.shape[0]
    width = min(n, max(2 * count + 1, 20))
    found = np.zeros(0), np.zeros((n, 0))
    for attempt in range(2):
        try:
            lam, V = eigsh(
                matrix,
                k=count,
                which="LA",
                v0=start,
                ncv=min(n, width * (1 + 2 * attempt)),
                tol=tolerance,
                maxiter=max(300, 3_000_000 // n),
                **_fixed_rng(),
            )
        except ArpackNoConvergence as error:
            found = error.eigenvalues, error.eigenvectors
        except ArpackError:
            start = start + np.random.default_rng(1).random(n)
        else:
            order = np.argsort(-lam, kind="stable")
            lam, V = lam[order], V[:, order]
            residual = np.linalg.norm(matrix @ V - V * lam, axis=0).max()
            if residual <= max(_RESIDUAL, 10.0 * tolerance) * max(1.0, float(np.abs(lam).max())):
                return lam, V
    order = np.argsort(-found[0], kind="stable")
    msg = (
        f"Lanczos found {len(order)} of the {count} eigenpairs requested on {n} nodes"
        f"{in_python('; the error carries them as .eigenvalues and .eigenvectors')}.\n"
        "  Ask for fewer communities, or remove components that carry no structure."
    )
    raise PartialEigenpairsError(msg, found[0][order], found[1][:, order])


def _fixed_rng() -> dict[str, Any]:
    """Return the argument that makes ``eigsh`` repeatable, in versions of SciPy that have it."""
    from scipy.sparse.linalg import eigsh

    if "rng" in inspect.signature(eigsh).parameters:
        return {"rng": np.random.default_rng(0)}
    return {}


def _with_missed_copies(
    matrix: Any, lam: Floats, V: Floats, *, above: float
) -> tuple[Floats, Floats]:
    """Add the eigenpairs in the complement of V whose eigenvalue is above a bound."""
    from scipy.sparse.linalg import LinearOperator

    n = matrix.shape[0]
    rng = np.random.default_rng(2)
    while True:
        # A new vector in each round: the previous one held no other copy than the one found.
        start = rng.standard_normal(n)
        # The eigenvalues held are moved below all others, even where the largest is negative.
        last = float(lam[-1])
        shift = lam - min(-abs(float(lam[0])), last - abs(last))

        def deflated(x: Floats, held: Floats = V, shift: Floats = shift) -> Floats:
            flat = x.reshape(n)
            return np.asarray(matrix @ flat - held @ (shift * (held.T @ flat)))

        rest = LinearOperator((n, n), matvec=deflated, dtype=float)
        start -= V @ (V.T @ start)
        value, vector = lanczos_pairs(rest, 1, start, tolerance=_ROUGH_TOLERANCE)
        if value[0] <= above:
            return lam, V
        value, vector = lanczos_pairs(rest, 1, vector[:, 0])
        lam = np.append(lam, value)
        V = np.linalg.qr(np.column_stack([V, vector]))[0]
        order = np.argsort(-lam, kind="stable")
        lam, V = lam[order], V[:, order]


def _with_fixed_signs(V: Floats) -> Floats:
    size = np.abs(V)
    # Of entries that are equal up to rounding the first one decides.
    peak = np.argmax(size >= (1.0 - 1e-8) * size.max(axis=0), axis=0)
    return V * np.where(V[peak, np.arange(V.shape[1])] < 0.0, -1.0, 1.0)
