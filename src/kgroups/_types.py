"""Array types that the rooms share."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["CSR", "Bools", "Floats", "Indices", "Ints", "SelfLoops", "Symmetrize", "index_type"]

INT32_BOUND = np.iinfo(np.int32).max

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int64]
Indices: TypeAlias = npt.NDArray[Any]
"""Index arrays of a CSR matrix: int32 while they fit, int64 beyond."""

Symmetrize: TypeAlias = Literal["sum", "union"]
SelfLoops: TypeAlias = Literal["drop", "keep"]


def index_type(*counts: int) -> type[np.signedinteger[Any]]:
    """Return the type of numbers that count nodes or entries: int32 while all of them fit.

    Examples
    --------
    >>> index_type(10, 2**31 - 2), index_type(10, 2**31)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if max(counts) < INT32_BOUND else np.int64


class CSR(NamedTuple):
    """Compressed sparse rows as bare arrays, so that numba takes them as they are."""

    indptr: Indices
    indices: Indices
    data: Floats
