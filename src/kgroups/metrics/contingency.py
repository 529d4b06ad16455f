"""The table of two labelings: how many nodes each class shares with each group."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kgroups._types import Ints
from kgroups.metrics._align import align

__all__ = ["ConfusionTable", "Contingency", "confusion", "contingency"]


@dataclass(frozen=True, eq=False)
class Contingency:
    """The non-empty cells of a table of classes (rows) and groups (columns).

    Attributes
    ----------
    rows, columns, counts : ndarray of int
        Class, group and number of nodes of each non-empty cell, in row order.
    row_sums, column_sums : ndarray of int
        Sizes of the classes and of the groups, none of them 0.
    """

    rows: Ints
    columns: Ints
    counts: Ints
    row_sums: Ints
    column_sums: Ints

    @cached_property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.counts.sum())

    @property
    def is_match(self) -> bool:
        """Whether the two partitions are the same up to names."""
        return self.counts.size == self.row_sums.size == self.column_sums.size


def contingency(truth: Any, labels: Any) -> Contingency:
    """Return the non-empty cells of the table of two labelings."""
    pair = align(truth, labels)
    return _cells(pair.truth, pair.labels, len(pair.truth_names), len(pair.label_names))


def _cells(truth: Ints, labels: Ints, n_rows: int, n_columns: int) -> Contingency:
    key = np.multiply(truth, n_columns, dtype=np.int64) + labels
    # A counted table is faster than a sorted one, but must not outgrow the labels themselves.
    if n_rows * n_columns <= 4 * truth.size + 1024:
        table = np.bincount(key, minlength=n_rows * n_columns)
        cells = np.flatnonzero(table)
        counts = table[cells]
    else:
        cells, counts = np.unique(key, return_counts=True)
    rows, columns = np.divmod(cells, max(n_columns, 1))
    return Contingency(
        rows=rows.astype(np.int64),
        columns=columns.astype(np.int64),
        counts=counts.astype(np.int64),
        row_sums=np.bincount(truth, minlength=n_rows),
        column_sums=np.bincount(labels, minlength=n_columns),
    )


@dataclass(frozen=True, eq=False)
class ConfusionTable:
    """How many nodes of each true class are in each group.

    Attributes
    ----------
    counts : ndarray of int, shape (classes, groups)
        Number of nodes of each class (row) in each group (column).
    truth_names, label_names : tuple of hashable
        Names of the rows and of the columns: sorted labels, or the place of each set.
    """

    counts: Ints
    truth_names: tuple[Hashable, ...]
    label_names: tuple[Hashable, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfusionTable):
            return NotImplemented
        return (
            self.truth_names == other.truth_names
            and self.label_names == other.label_names
            and np.array_equal(self.counts, other.counts)
        )

    def __hash__(self) -> int:
        return hash((self.truth_names, self.label_names, self.counts.tobytes()))

    def __str__(self) -> str:
        head = ["", *(str(name) for name in self.label_names)]
        body = [
            [str(name), *(str(count) for count in row)]
            for name, row in zip(self.truth_names, self.counts.tolist(), strict=True)
        ]
        widths = [max(len(line[j]) for line in [head, *body]) for j in range(len(head))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in [head, *body]
        )


def confusion(truth: Any, labels: Any) -> ConfusionTable:
    """Return the table of true classes against groups.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by place.

    Returns
    -------
    ConfusionTable
        Counts with the names of rows and columns. It is dense: classes times groups entries.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Examples
    --------
    >>> print(confusion(["x", "x", "y", "y"], [0, 1, 1, 1]))
       0  1
    x  1  1
    y  0  2
    """
    pair = align(truth, labels)
    shape = (len(pair.truth_names), len(pair.label_names))
    cells = _cells(pair.truth, pair.labels, *shape)
    counts = np.zeros(shape, np.int64)
    counts[cells.rows, cells.columns] = cells.counts
    counts.flags.writeable = False
    return ConfusionTable(counts, tuple(pair.truth_names), tuple(pair.label_names))
