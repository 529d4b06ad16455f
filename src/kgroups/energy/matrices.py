"""Square matrices with a row and a column per point: checks, sums, and ends of the spectrum."""

from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups._types import Bools, Floats
from kgroups.energy.distances import BLOCK_ENTRIES
from kgroups.energy.points import as_numbers, check_finite
from kgroups.errors import InputError

__all__ = [
    "add_sums",
    "as_square",
    "check_symmetric",
    "double_centred",
    "extreme_eigenvalues",
    "first_place",
    "largest_entry",
]


def as_square(matrix: Any, what: str) -> Floats:
    """Return a square matrix of finite floats, or raise; ``what`` is its name in messages."""
    numbers = as_numbers(matrix, what)
    if numbers.ndim != 2 or numbers.shape[0] != numbers.shape[1] or numbers.size == 0:
        msg = (
            f"{what} must be square, with a row and a column per point, "
            f"got shape {numbers.shape}.\n  Pass an n x n array with n at least 1."
        )
        raise InputError(msg)
    check_finite(numbers, what)
    return numbers


def check_symmetric(matrix: Floats, slack: float, what: str) -> None:
    """Raise if an entry and its mirror image differ by more than ``slack``."""
    n = matrix.shape[0]
    rows = max(1, BLOCK_ENTRIES // n)
    for lo in range(0, n, rows):
        hi = lo + rows
        # Halves, because the difference of two large floats of opposite sign may overflow.
        gap = np.abs(0.5 * matrix[lo:hi, lo:] - 0.5 * matrix[lo:, lo:hi].T)
        if gap.max() > 0.5 * slack:
            i, j = (index + lo for index in first_place(gap > 0.5 * slack))
            msg = (
                f"{what} must be symmetric, got {matrix[i, j]} at ({i}, {j}) "
                f"but {matrix[j, i]} at ({j}, {i}).\n"
                "  If it differs by rounding only, pass (M + M.T) / 2."
            )
            raise InputError(msg)


def first_place(mask: Bools) -> tuple[int, int]:
    """Return the row and column of the first true entry, row by row."""
    row, column = divmod(int(np.argmax(mask)), mask.shape[1])
    return row, column


def add_sums(matrix: Floats, terms: Floats) -> None:
    """Add ``terms[i] + terms[j]`` to every entry; a symmetric matrix stays so to the last digit."""
    rows = max(1, BLOCK_ENTRIES // matrix.shape[0])
    for lo in range(0, matrix.shape[0], rows):
        hi = lo + rows
        matrix[lo:hi] += np.add.outer(terms[lo:hi], terms)


def double_centred(distances: Floats) -> Floats:
    """Return -J D J / 2."""
    n = distances.shape[0]
    # A product with weights needs no copy, and stays finite where a plain sum overflows.
    half = distances @ np.full(n, 0.5 / n)
    half -= 0.5 * (half @ np.full(n, 1.0 / n))
    G: Floats = -0.5 * distances
    add_sums(G, half)
    return G


def largest_entry(matrix: Floats) -> float:
    """Return the largest absolute value, without an array of all of them."""
    return max(float(matrix.max()), -float(matrix.min()))


def extreme_eigenvalues(matrix: Floats) -> tuple[float, float]:
    """Return the lowest and the highest eigenvalue of a symmetric matrix."""
    with single_threaded(matrix.shape[0]):
        values = np.linalg.eigvalsh(matrix)
    return float(values[0]), float(values[-1])
