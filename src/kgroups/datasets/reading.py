"""Read the rows of a data file, compressed or not, and the labels in its columns."""

import csv
import gzip
import io
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups.datasets.catalogue import DataFile, Entry, read_checked

__all__ = ["Column", "numbers_or_text", "read_rows"]

Column = npt.NDArray[Any]


def read_rows(entry: Entry, data_file: DataFile) -> tuple[list[str], list[list[str]]]:
    """Return the header and the other rows of a file whose checksum is right."""
    content = read_checked(entry, data_file)
    if data_file.file.endswith(".gz"):
        content = gzip.decompress(content)
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    return header, rows


def numbers_or_text(column: Column) -> Column:
    """Return a column of text as integers where all of it can be read so."""
    try:
        return column.astype(np.int64)
    except ValueError:
        return column
