"""Signs of pivots: exact counts of negative eigenvalues by a sparse factorisation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Bools, Floats

__all__ = ["Factor", "factorise"]

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
