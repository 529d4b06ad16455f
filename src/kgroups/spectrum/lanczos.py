"""Extreme eigenpairs of N_r: dense where the graph is small, Lanczos elsewhere."""

import inspect
from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups._wording import in_python
from kgroups.errors import ConvergenceError
from kgroups.operators import BoundBetheHessian

__all__ = [
    "PartialEigenpairsError",
    "all_eigenvalues",
    "lanczos_pairs",
    "largest_eigenpairs",
    "rough_top",
    "start_vector",
    "top_eigenpairs",
]

_DENSE_NODES = 300
_DENSE_FALLBACK_NODES = 3_000
_RESIDUAL = 1e-7
_TOLERANCE = 1e-10
_ROUGH = 1e-4


class PartialEigenpairsError(ConvergenceError):
    """The eigensolver stopped early; what had converged comes along.

    Attributes
    ----------
    eigenvalues : ndarray of shape (found,)
        The converged ones, falling.
    eigenvectors : ndarray of shape (n, found)
        Their eigenvectors.
    """

    def __init__(self, message: str, eigenvalues: Floats, eigenvectors: Floats) -> None:
        super().__init__(message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


def top_eigenpairs(bound: BoundBetheHessian, count: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of N_r, falling, and their eigenvectors.

    Parameters
    ----------
    bound : BoundBetheHessian
        Best of a connected graph: a Krylov method finds equal eigenvalues of several components
        one by one only.
    count : int
        How many, from 0 to n.

    Returns
    -------
    eigenvalues : ndarray of shape (count,)
    eigenvectors : ndarray of shape (n, count)
        Orthonormal columns; in each the entry of largest size is positive, the first one in a tie.

    Raises
    ------
    PartialEigenpairsError
        If Lanczos does not converge and the graph is too large for a dense solver.
    """
    n = bound.n
    if count == 0:
        return np.zeros(0), np.zeros((n, 0))
    if n <= _DENSE_NODES or (8 * count >= n and n <= _DENSE_FALLBACK_NODES) or count >= n - 1:
        lam, V = _dense(bound)
    else:
        matrix = bound.normalized_matrix()
        try:
            lam, V = largest_eigenpairs(matrix, count, start_vector(bound))
        except PartialEigenpairsError:
            if n > _DENSE_FALLBACK_NODES:
                raise
            lam, V = _dense(bound)
    return lam[:count], _with_fixed_signs(V[:, :count])


def largest_eigenpairs(matrix: Any, count: int, start: Floats) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix or operator, copies included, falling.

    A Krylov method started from one vector may miss copies of an equal eigenvalue; a second
    search, in the complement of what was found, brings them up.
    """
    lam, V = lanczos_pairs(matrix, count, start)
    above = float(lam[-1]) + 1e-7 * max(1.0, abs(float(lam[-1])))
    lam, V = _with_missed_copies(matrix, lam, V, above=above)
    return lam[:count], V[:, :count]


def rough_top(bound: BoundBetheHessian, *, sign: int, tolerance: float = 1e-3) -> float:
    """Return the largest eigenvalue of ``sign * N`` to about three digits, never too large."""
    if bound.n <= _DENSE_NODES:
        return float(all_eigenvalues(bound, sign=sign)[0])
    matrix = bound.normalized_matrix() * float(sign)
    return float(lanczos_pairs(matrix, 1, start_vector(bound), tolerance=tolerance)[0][0])


def all_eigenvalues(bound: BoundBetheHessian, *, sign: int) -> Floats:
    """Return all eigenvalues of ``sign * N``, falling, from the dense matrix."""
    values = np.linalg.eigvalsh(bound.normalized_dense()).astype(np.float64, copy=False)
    return values[::-1] if sign > 0 else -values


def start_vector(bound: BoundBetheHessian) -> Floats:
    """Return the vector that every search starts from."""
    # Near the top eigenvector, but not exactly it on regular graphs, where Krylov would stop.
    return np.sqrt(bound.diagonal) * (0.5 + np.random.default_rng(0).random(bound.n))


def _dense(bound: BoundBetheHessian) -> tuple[Floats, Floats]:
    lam, V = np.linalg.eigh(bound.normalized_dense())
    return lam[::-1], V[:, ::-1]


def lanczos_pairs(
    matrix: Any, count: int, start: Floats, *, tolerance: float = _TOLERANCE
) -> tuple[Floats, Floats]:
    """Return what one run of Lanczos finds: the largest eigenvalues, falling, and eigenvectors."""
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
                **fixed_randomness(),
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
        f"Lanczos found {len(order)} of the {count} eigenpairs asked for on {n} nodes"
        f"{in_python('; the error carries them as .eigenvalues and .eigenvectors')}.\n"
        "  Ask for fewer communities, or remove components that carry no structure."
    )
    raise PartialEigenpairsError(msg, found[0][order], found[1][:, order])


def fixed_randomness() -> dict[str, Any]:
    """Return the argument that makes ``eigsh`` repeatable where it draws random vectors itself."""
    from scipy.sparse.linalg import eigsh

    if "rng" in inspect.signature(eigsh).parameters:
        return {"rng": np.random.default_rng(0)}
    return {}


def _with_missed_copies(
    matrix: Any, lam: Floats, V: Floats, *, above: float
) -> tuple[Floats, Floats]:
    """Search the complement of V for eigenvalues above a bound, and take in what is there."""
    from scipy.sparse.linalg import LinearOperator

    n = matrix.shape[0]
    rng = np.random.default_rng(2)
    while True:
        # A new vector in each round: the copy found last was all that the one before held.
        start = rng.standard_normal(n)
        # Moved below all that is searched for, what is held cannot come up again, not even where
        # the largest eigenvalue is negative.
        last = float(lam[-1])
        shift = lam - min(-abs(float(lam[0])), last - abs(last))
        held = V

        def deflated(x: Floats, held: Floats = held, shift: Floats = shift) -> Floats:
            flat = x.reshape(n)
            return np.asarray(matrix @ flat - held @ (shift * (held.T @ flat)))

        rest = LinearOperator((n, n), matvec=deflated, dtype=float)
        value, vector = lanczos_pairs(rest, 1, start - V @ (V.T @ start), tolerance=_ROUGH)
        if value[0] <= above:
            return lam, V
        value, vector = lanczos_pairs(rest, 1, vector[:, 0])
        lam = np.append(lam, value)
        V = np.linalg.qr(np.column_stack([V, vector]))[0]
        order = np.argsort(-lam, kind="stable")
        lam, V = lam[order], V[:, order]


def _with_fixed_signs(V: Floats) -> Floats:
    size = np.abs(V)
    # Entries equal up to rounding must not decide by their last digits.
    peak = np.argmax(size >= (1.0 - 1e-8) * size.max(axis=0), axis=0)
    return V * np.where(V[peak, np.arange(V.shape[1])] < 0.0, -1.0, 1.0)
