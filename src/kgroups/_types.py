"""Array types that all packages share."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int64]
Indices: TypeAlias = npt.NDArray[Any]
"""Index arrays of a CSR matrix: int32 while they fit, int64 beyond."""

Symmetrize: TypeAlias = Literal["sum", "union"]
SelfLoops: TypeAlias = Literal["drop", "keep"]


class CSR(NamedTuple):
    """Compressed sparse rows as bare arrays, so that numba takes them as they are."""

    indptr: Indices
    indices: Indices
    data: Floats
