"""Rows in which nodes of one community lie close together."""

from typing import Literal, TypeAlias

import numpy as np

from kgroups._types import Bools, Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum import top_eigenpairs
from kgroups.spectrum.lanczos import largest_eigenpairs, start_vector

__all__ = ["Rows", "embedding_rows", "informative_eigenpairs", "strong_rows"]

Rows: TypeAlias = Literal["normalized", "raw"]

# Up to this size a dense solver is affordable, and with it all equals of an eigenvalue.
_DENSE_NODES = 1_500
_TIE = 1e-8
# Ties between symmetric nodes must not be settled by the last digits of an eigensolver.
_DIGITS = 10
# Entries this much smaller than the largest are mostly the solver's error.
_NOISE = 1e-7


def informative_eigenpairs(
    bound: BoundBetheHessian, count: int, rows: Rows
) -> tuple[Floats, Floats]:
    """Return eigenvalues, most informative first, and their eigenvectors as columns.

    For ``"normalized"`` rows these are the top eigenpairs of N_r; for ``"raw"`` rows the lowest
    eigenvectors of H_r, as in the paper, with the sign of the eigenvalues turned. Eigenvectors of
    equal eigenvalues are turned to a basis that does not depend on how they were computed. On
    graphs up to 1500 nodes they are computed densely, all of them, so that this holds to the last
    digits that are used, and too when ``count`` cuts through equal eigenvalues.
    """
    find = top_eigenpairs if rows == "normalized" else _lowest_of_hessian
    n = bound.n
    lam, V = find(bound, min(n, count + 1) if n <= _DENSE_NODES else count)
    if count < len(lam) < n and np.any(lam[1:] >= lam[:-1] - _TIE):
        # Lanczos may have missed some of the equal ones, and knows eigenvectors less precisely.
        lam, V = find(bound, n)
    return lam[:count], _in_canonical_basis(lam, V)[:, :count]


def _lowest_of_hessian(bound: BoundBetheHessian, count: int) -> tuple[Floats, Floats]:
    """Return the lowest eigenpairs of H_r, with the sign of the eigenvalues turned."""
    H = bound.matrix()
    if bound.n <= _DENSE_NODES or count >= bound.n - 1:
        lam, V = np.linalg.eigh(H.toarray())
        return -lam[:count], V[:, :count]
    from scipy import sparse

    # Gershgorin's bound on the spectrum of H turns its low end into a high end.
    shift = float(2.0 * bound.diagonal.max() + abs(H).sum(axis=1).max())
    turned = sparse.diags_array(np.full(bound.n, shift), format="csr") - H
    lam, V = largest_eigenpairs(turned, count, start_vector(bound))
    return lam - shift, V


def _in_canonical_basis(lam: Floats, V: Floats) -> Floats:
    """Turn the eigenvectors of equal eigenvalues towards fixed directions."""
    breaks = np.flatnonzero(np.diff(lam) < -_TIE) + 1
    runs = np.split(np.arange(lam.size), breaks)
    if all(run.size < 2 for run in runs):
        return V
    V = V.copy()
    for run in runs:
        if run.size > 1:
            fixed = np.random.default_rng(run.size).standard_normal((V.shape[0], run.size))
            basis, triangle = np.linalg.qr(V[:, run] @ (V[:, run].T @ fixed))
            V[:, run] = basis * np.where(np.diag(triangle) < 0.0, -1.0, 1.0)
    return V


def embedding_rows(V: Floats, rows: Rows) -> Floats:
    """Return one row of coordinates per node.

    Rows of length 1 put the nodes of a community at one point whatever their degree.
    """
    if rows == "raw":
        return np.round(V, _DIGITS)
    scaled: Floats = V / np.maximum(_lengths(V), np.finfo(float).tiny)[:, None]
    return np.round(scaled, _DIGITS)


def strong_rows(V: Floats) -> Bools:
    """Say which rows are more than the error of the solver.

    Along a path away from the communities eigenvectors fall off until nothing else is left.
    """
    length = _lengths(V)
    return np.asarray(length >= _NOISE * length.max(initial=0.0))


def _lengths(V: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ic,ic->i", V, V)), dtype=float)
