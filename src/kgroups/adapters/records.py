"""Lines of numbers to a structured array, a block of whole lines at a time."""

import io
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

__all__ = ["line_blocks", "read_records"]

_BLOCK_BYTES = 1 << 24


def line_blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield what is left of a file in blocks that end with a line, all line ends as newlines."""
    rest = b""
    while chunk := file.read(_BLOCK_BYTES):
        text, end, rest = (rest + chunk).rpartition(b"\n")
        yield (text + end).replace(b"\r", b"\n")
    yield rest.replace(b"\r", b"\n")


def read_records(
    blocks: Iterable[bytes],
    record: "np.dtype[Any]",
    delimiter: str | None,
    *,
    refuse: Callable[[bytes], bool] | None = None,
) -> Any:
    """Parse lines that all hold the fields of ``record``.

    Parameters
    ----------
    blocks : iterable of bytes
        Whole lines; empty ones are skipped.
    record : dtype
        One field per column, in order.
    delimiter : str or None
        What separates the columns; ``None`` for blanks.
    refuse : callable, optional
        Says of a block whether it holds what numpy would misread.

    Returns
    -------
    ndarray or None
        One record per line; ``None`` if some line does not fit, for the caller to find out which.
    """
    parts = [np.empty(0, record)]
    with warnings.catch_warnings():
        # numpy warns where it would read the integer 2 from the text 2.5.
        warnings.simplefilter("error")
        for block in blocks:
            if not block.strip():
                continue
            if refuse is not None and refuse(block):
                return None
            try:
                lines = io.BytesIO(block)
                part = np.loadtxt(
                    lines, record, comments=None, delimiter=delimiter, ndmin=1, encoding="utf-8"
                )
            except (ValueError, TypeError, OverflowError, Warning):
                return None
            parts.append(part)
    return np.concatenate(parts)
