"""The lowest eigenvalues of a sparse symmetric matrix, copies of equal ones included."""

from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups.errors import ConvergenceError

__all__ = ["lowest_eigenvalues"]

_TOLERANCE = 1e-9
_ROUGH = 1e-4
_LEAST_WIDTH = 60


def lowest_eigenvalues(matrix: Any, k: int) -> Floats:
    """Return the k lowest eigenvalues, rising.

    Lanczos from one vector can miss copies of an equal eigenvalue. So the complement of what was
    found is searched too, until it holds nothing as low.
    """
    from scipy.sparse.linalg import LinearOperator

    n = matrix.shape[0]
    rng = np.random.default_rng(0)
    lam, V = _lowest_pairs(matrix, k, 0.5 + rng.random(n), _TOLERANCE)
    while True:
        order = np.argsort(lam)
        lam, V = lam[order], V[:, order]
        last = float(lam[k - 1])
        raised = last - lam + abs(last) + 1.0

        def deflated(x: Floats, held: Floats = V, raised: Floats = raised) -> Floats:
            flat = x.reshape(n)
            return np.asarray(matrix @ flat + held @ (raised * (held.T @ flat)))

        rest = LinearOperator((n, n), matvec=deflated, dtype=float)
        start = rng.standard_normal(n)
        value, vector = _lowest_pairs(rest, 1, start - V @ (V.T @ start), _ROUGH)
        if value[0] >= last - 1e-6 * max(1.0, abs(last)):
            return lam[:k]
        value, vector = _lowest_pairs(rest, 1, vector[:, 0], _TOLERANCE)
        lam = np.append(lam, value)
        V = np.linalg.qr(np.column_stack([V, vector]))[0]


def _lowest_pairs(
    matrix: Any, count: int, start: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = matrix.shape[0]
    try:
        # Many vectors at once: the low end lies close together, far from the high one.
        lam, V = eigsh(
            matrix,
            count,
            which="SA",
            v0=start,
            ncv=min(n, max(3 * count, _LEAST_WIDTH)),
            tol=tolerance,
            maxiter=max(1_000, 10_000_000 // n),
        )
    except ArpackNoConvergence as error:
        msg = (
            f"Lanczos found {len(error.eigenvalues)} of the {count} lowest eigenvalues of a "
            f"matrix of {n} rows.\n  Ask for fewer, or for all with k=None."
        )
        raise ConvergenceError(msg) from error
    return lam, V
