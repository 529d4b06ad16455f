"""H_r and N_r as linear operators whose only use of the graph is ``graph @ block``."""

from typing import Any, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kgroups._types import Floats

__all__ = ["HessianOperator", "NormalizedOperator"]


class Multiplies(Protocol):
    """Anything with a shape that multiplies a block of columns."""

    shape: tuple[int, int]

    def __matmul__(self, block: Any) -> Any:
        """Return the product with a block of shape (n, columns)."""


class HessianOperator(LinearOperator):  # type: ignore[misc]
    """``x -> diagonal * x - coupling @ x``.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        The diagonal of H without self-loops.
    coupling : object with ``shape`` and ``@``
        The only door to the graph; a distributed matrix will do.
    """

    def __init__(self, diagonal: Floats, coupling: Multiplies) -> None:
        super().__init__(np.dtype(float), coupling.shape)
        self._diagonal = diagonal[:, np.newaxis]
        self._coupling = coupling

    def _matmat(self, X: Floats) -> Floats:
        return np.asarray(self._diagonal * X - self._coupling @ X)

    def _matvec(self, x: Floats) -> Floats:
        return self._matmat(x.reshape(-1, 1))

    def _adjoint(self) -> "HessianOperator":
        return self


class NormalizedOperator(LinearOperator):  # type: ignore[misc]
    """``x -> s * (coupling @ (s * x))`` with ``s = diagonal ** -0.5``.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        The diagonal of H without self-loops.
    coupling : object with ``shape`` and ``@``
        The only door to the graph; a distributed matrix will do.
    """

    def __init__(self, diagonal: Floats, coupling: Multiplies) -> None:
        super().__init__(np.dtype(float), coupling.shape)
        self._scale = 1.0 / np.sqrt(diagonal)[:, np.newaxis]
        self._coupling = coupling

    def _matmat(self, X: Floats) -> Floats:
        return np.asarray(self._scale * (self._coupling @ (self._scale * X)))

    def _matvec(self, x: Floats) -> Floats:
        return self._matmat(x.reshape(-1, 1))

    def _adjoint(self) -> "NormalizedOperator":
        return self
