"""Read a known table: rows of numbers, each with a class."""

from dataclasses import dataclass

import numpy as np

from kgroups._types import Floats
from kgroups.datasets.catalogue import table_info
from kgroups.datasets.reading import Column, numbers_or_text, read_rows

__all__ = ["Table", "load_table"]


@dataclass(frozen=True, eq=False)
class Table:
    """A table with what is known about it.

    Attributes
    ----------
    name, title : str
        Its short name, and what it is.
    X : ndarray of float, shape (rows, columns)
        The numbers; NaN marks a missing cell.
    columns : tuple of str
        The names of the columns of ``X``.
    labels : ndarray
        The class of each row: integers where the file has integers, else text.
    citation, origin, licence, note : str
        Whom to cite, where the copy is from, its terms, and what to know before use.
    """

    name: str
    title: str
    X: Floats
    columns: tuple[str, ...]
    labels: Column
    citation: str
    origin: str
    licence: str
    note: str

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        classes = np.unique(self.labels).size
        return f"Table({self.name!r}, {rows} rows x {columns} columns, {classes} classes)"


def load_table(name: str) -> Table:
    """Load a table by its name.

    No table ships with kgroups: its file is looked for in the folders of
    :func:`kgroups.datasets.data_folders`.

    Parameters
    ----------
    name : str
        One of :func:`kgroups.datasets.table_names`.

    Returns
    -------
    Table
        The numbers, the class of each row, and where they are from; the arrays are read-only.

    Raises
    ------
    InputError
        If no table has this name; networks have :func:`kgroups.datasets.load`.
    FileFormatError
        If the file is absent or its checksum is wrong; the message says which file, where it is
        from and where to put it.

    Examples
    --------
    Load every small table whose file is on this machine.

    >>> from kgroups import datasets
    >>> small = [entry for entry in datasets.describe_tables() if entry.rows < 1000]
    >>> tables = [datasets.load_table(entry.name) for entry in small if entry.present]
    >>> all(table.X.shape == (len(table.labels), len(table.columns)) for table in tables)
    True
    """
    entry = table_info(name)
    header, rows = read_rows(entry, entry.data_file)
    numbers = np.array([[float(cell or "nan") for cell in row[:-1]] for row in rows])
    labels = numbers_or_text(np.array([row[-1] for row in rows]))
    for column in (numbers, labels):
        column.flags.writeable = False
    return Table(
        name=entry.name,
        title=entry.title,
        X=numbers,
        columns=tuple(header[:-1]),
        labels=labels,
        citation=entry.citation,
        origin=entry.origin,
        licence=entry.licence,
        note=entry.note,
    )
