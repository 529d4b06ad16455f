"""Signs of pivots: exact counts of negative eigenvalues by sparse and dense factorizations."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Bools, Floats

__all__ = ["Factor", "factorise", "negative_eigenvalues"]

_SMALLEST_PIVOT = 1e-11
_RESIDUAL = 1e-7


@dataclass(frozen=True, eq=False)
class Factor:
    """A factorised symmetric matrix.

    Attributes
    ----------
    negative : ndarray of bool, shape (n,)
        Whether the pivot of each node is negative. By Sylvester's law of inertia a connected
        component has as many negative eigenvalues as negative pivots.
    lu : SuperLU
        Solves with the matrix.
    """

    negative: Bools
    lu: Any

    def solve(self, b: Floats) -> Floats:
        """Return the solution x of ``matrix @ x == b``."""
        return np.asarray(self.lu.solve(b))


def factorise(matrix: Any) -> Factor | None:
    """Factorise a sparse symmetric matrix with pivots on its diagonal, or return None.

    None means that the pivots cannot be trusted: one left the diagonal, or is so small that
    its sign is noise, or solving with them leaves a residual.
    """
    from scipy.sparse.linalg import splu

    try:
        lu = splu(
            matrix.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        # SuperLU says so of an exactly singular matrix.
        return None
    pivots = lu.U.diagonal()
    trusted = (
        np.array_equal(lu.perm_r, lu.perm_c)
        and float(np.abs(pivots).min(initial=np.inf)) > _SMALLEST_PIVOT * abs(matrix).max()
    )
    if not trusted:
        return None
    factor = Factor((pivots < 0.0)[lu.perm_r], lu)
    b = np.random.default_rng(0).standard_normal(matrix.shape[0])
    residual = np.linalg.norm(matrix @ factor.solve(b) - b) / np.linalg.norm(b)
    return factor if residual <= _RESIDUAL else None


def negative_eigenvalues(matrix: Floats) -> int:
    """Count the negative eigenvalues of a dense symmetric matrix, which is overwritten.

    By the factorization L D L^T with pivots of order 1 and 2 (Bunch and Kaufman), which is stable
    for every symmetric matrix. A pivot of order 2 has one negative eigenvalue.
    """
    from scipy.linalg.lapack import dsytrf, dsytrf_lwork

    n = len(matrix)
    if n == 0:
        return 0
    workspace, _ = dsytrf_lwork(n, lower=1)
    # The transpose is in the order of columns that LAPACK wants, and the matrix is symmetric.
    factor, pivots, _ = dsytrf(matrix.T, lower=1, lwork=int(workspace), overwrite_a=1)
    single = pivots > 0
    return int(np.count_nonzero(factor.diagonal()[single] < 0.0) + np.count_nonzero(~single) // 2)
