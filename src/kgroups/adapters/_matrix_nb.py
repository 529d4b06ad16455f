"""Kernel that tells whether a matrix is symmetric without turning it over."""

from typing import Any

from numba import njit

__all__ = ["is_symmetric"]


@njit(cache=True, nogil=True)
def is_symmetric(indptr: Any, indices: Any, data: Any, place: Any) -> bool:
    """Whether each entry has an equal twin, in sorted rows without repeats.

    Rows come in rising order, so the twins in row j come in the order of the row. ``place`` holds
    where each row begins and is moved on; an empty ``data`` stands for equal values.
    """
    valued = data.size > 0
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            twin = place[j]
            if twin >= indptr[j + 1] or indices[twin] != i:
                return False
            if valued and data[twin] != data[t]:
                return False
            place[j] = twin + 1
    return True
