"""All eigenvalues of N_r beyond 1, where only products with the graph are affordable.

A Chebyshev filter lifts what is beyond 1 out of a random block; the Ritz values of the block that
exceed 1 are a lower bound on the count. Lanczos on the complement of their vectors then gives
the largest eigenvalue left. By Cauchy's interlacing no eigenvalue beyond 1 is
missed when that one is below 1; equal eigenvalues make no exception.
"""

from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.lanczos import all_eigenvalues, lanczos_pairs, start_vector

__all__ = ["eigenvalues_beyond_one"]

_DENSE_NODES = 50
_BLOCK = 8
_DEGREE = 16
_LARGEST_DEGREE = 128
_PASSES = 12
_RESIDUAL = 1e-3
_ROUGH = 1e-3
_SHARP = 1e-10


def eigenvalues_beyond_one(
    bound: BoundBetheHessian, *, sign: int, most: float = float("inf")
) -> Floats:
    """Return all eigenvalues of ``sign * N`` above 1 and the first that is not, falling.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator, of any number of components.
    sign : {1, -1}
        Which end of the spectrum.
    most : float
        Where more than this are above 1 the search gives up, and the last value returned is
        above 1.

    Returns
    -------
    ndarray
        Those above 1 to about six digits, the last one to about three.
    """
    n = bound.n
    if n <= _DENSE_NODES:
        return all_eigenvalues(bound, sign=sign)
    matrix = bound.normalized_matrix() * float(sign)
    rng = np.random.default_rng(0)
    degree, start = _DEGREE, start_vector(bound)
    block = np.column_stack([start, rng.standard_normal((n, _BLOCK - 1))])
    if sign < 0:
        # Seldom is anything there, so the cheaper search comes first.
        outside, vector = _largest_outside(matrix, np.zeros((n, 0)), start)
        if outside <= 1.0:
            return np.array([outside])
        block[:, 1] = vector
    while True:
        lam, block = _lifted(matrix, block, degree)
        beyond = lam > 1.0
        found = int(np.count_nonzero(beyond))
        if found > most:
            return lam[beyond]
        if 3 * block.shape[1] > n:
            return all_eigenvalues(bound, sign=sign)
        if _is_full(lam):
            block = np.column_stack([block, rng.standard_normal(block.shape)])
            continue
        outside, vector = _largest_outside(matrix, block[:, beyond], start)
        if outside <= 1.0:
            return np.append(lam[beyond], outside)
        # So close to 1 that the filter was too blunt.
        block = np.column_stack([block, vector, rng.standard_normal((n, 3))])
        degree = min(2 * degree, _LARGEST_DEGREE)


def _lifted(matrix: Any, block: Floats, degree: int) -> tuple[Floats, Floats]:
    """Return Ritz values, falling, and Ritz vectors of a block filtered until they settle."""
    lam, V = _ritz(matrix, _filtered(matrix, np.linalg.qr(block)[0], degree // 2))
    for _ in range(_PASSES):
        if _is_full(lam):
            break
        before = int(np.count_nonzero(lam > 1.0))
        lam, V = _ritz(matrix, _filtered(matrix, V, degree))
        beyond = lam > 1.0
        apart = np.linalg.norm(matrix @ V[:, beyond] - V[:, beyond] * lam[beyond], axis=0)
        if int(np.count_nonzero(beyond)) == before and apart.max(initial=0.0) <= _RESIDUAL:
            break
    return lam, V


def _is_full(lam: Floats) -> bool:
    """Say whether a block may hold too few vectors: the filter lifts both ends of the spectrum."""
    return bool(np.count_nonzero(np.abs(lam) > 1.0) >= len(lam) - 2)


def _filtered(matrix: Any, X: Floats, degree: int) -> Floats:
    """Apply a Chebyshev polynomial of the matrix to X: small on [-1, 1], large beyond."""
    before, now = X, matrix @ X
    for _ in range(degree - 1):
        before, now = now, 2.0 * (matrix @ now) - before
    return np.asarray(now)


def _ritz(matrix: Any, X: Floats) -> tuple[Floats, Floats]:
    # Unit columns first: the filter makes them differ by many orders of magnitude.
    Q, _ = np.linalg.qr(X / np.linalg.norm(X, axis=0))
    lam, S = np.linalg.eigh(Q.T @ (matrix @ Q))
    return lam[::-1], np.asarray(Q @ S[:, ::-1])


def _largest_outside(matrix: Any, V: Floats, start: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue on the complement of V, sharp enough to tell it from 1."""
    from scipy.sparse.linalg import LinearOperator

    n = len(start)

    def outside(x: Floats) -> Floats:
        flat = x.reshape(n)
        flat = flat - V @ (V.T @ flat)
        image = matrix @ flat
        return np.asarray(image - V @ (V.T @ image))

    rest = LinearOperator((n, n), matvec=outside, dtype=float)
    start = start - V @ (V.T @ start)
    tolerance = _ROUGH
    while True:
        lam, vectors = lanczos_pairs(rest, 1, start, tolerance=tolerance)
        value, start = float(lam[0]), vectors[:, 0]
        unsure = float(np.linalg.norm(outside(start) - value * start))
        # A Ritz value never exceeds its eigenvalue, so above 1 is above.
        if value > 1.0 or value + unsure < 1.0 or tolerance <= _SHARP:
            return value, start
        tolerance /= 10.0
