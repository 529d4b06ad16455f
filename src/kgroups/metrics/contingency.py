"""Two labelings of the same nodes, and how many nodes each class shares with each group."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._html import html_result, html_table
from kgroups._types import Ints
from kgroups._wording import counted, shown_name, text_of
from kgroups.adapters import (
    Labeling,
    check_length,
    check_named_once,
    positions_of,
    read_labeling,
)
from kgroups.errors import PartitionError

# Classes and groups that a notebook shows.
_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Contingency:
    """The non-empty cells of a table of classes (rows) and groups (columns), in row order."""

    rows: Ints
    columns: Ints
    counts: Ints
    shape: tuple[int, int]

    @cached_property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.counts.sum())

    @cached_property
    def row_sums(self) -> Ints:
        """Sizes of the classes."""
        return np.bincount(self.rows, self.counts, self.shape[0]).astype(np.int64)

    @cached_property
    def column_sums(self) -> Ints:
        """Sizes of the groups."""
        return np.bincount(self.columns, self.counts, self.shape[1]).astype(np.int64)

    @property
    def is_match(self) -> bool:
        """Whether the two partitions are the same up to names."""
        return self.counts.size == self.shape[0] == self.shape[1]


def contingency(truth: Any, labels: Any) -> Contingency:
    """Return the non-empty cells of the table of two labelings."""
    pair = _align(truth, labels)
    return _cells(pair.truth, pair.labels, len(pair.truth_names), len(pair.label_names))


def _cells(truth: Ints, labels: Ints, n_rows: int, n_columns: int) -> Contingency:
    key = np.multiply(truth, n_columns, dtype=np.int64) + labels
    # A dense table is faster than sorting, but must not take more memory than the labels.
    if n_rows * n_columns <= 4 * truth.size + 1024:
        table = np.bincount(key, minlength=n_rows * n_columns)
        cells = np.flatnonzero(table)
        counts = table[cells]
    else:
        cells, counts = np.unique(key, return_counts=True)
    rows, columns = np.divmod(cells, max(n_columns, 1))
    return Contingency(rows, columns, counts, (n_rows, n_columns))


@dataclass(frozen=True, eq=False)
class ConfusionTable:
    """How many nodes of each true class are in each group.

    Attributes
    ----------
    counts : ndarray of int, shape (classes, groups)
        Number of nodes of each class (row) in each group (column).
    truth_names, label_names : tuple of hashable
        Names of the rows and of the columns: sorted labels, or the position of each set.
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

    def _repr_html_(self) -> str:
        classes, groups = self.counts.shape
        shown = self.counts[:_MOST_SHOWN, :_MOST_SHOWN].tolist()
        rows = [
            [text_of(name), *row]
            for name, row in zip(self.truth_names[:_MOST_SHOWN], shown, strict=True)
        ]
        head = (
            f"{counted(classes, 'class', 'classes')} (rows) in {counted(groups, 'group')} (columns)"
        )
        left_out = []
        if max(classes, groups) > _MOST_SHOWN:
            left_out = [f"The first {_MOST_SHOWN} of each are shown."]
        header = ["", *map(text_of, self.label_names[:_MOST_SHOWN])]
        return html_result(head, left_out, html_table(header, rows))

    def __str__(self) -> str:
        head = ["", *(text_of(name) for name in self.label_names)]
        body = [
            [text_of(name), *(str(count) for count in row)]
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
        of nodes. Where both have node names, nodes are matched by name, else by position.

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
    pair = _align(truth, labels)
    shape = (len(pair.truth_names), len(pair.label_names))
    cells = _cells(pair.truth, pair.labels, *shape)
    counts = np.zeros(shape, np.int64)
    counts[cells.rows, cells.columns] = cells.counts
    counts.flags.writeable = False
    return ConfusionTable(counts, tuple(pair.truth_names), tuple(pair.label_names))


class _Aligned(NamedTuple):
    """Class and group of each node, with the caller's names of the classes and groups."""

    truth: Ints
    labels: Ints
    truth_names: Sequence[Hashable]
    label_names: Sequence[Hashable]


def _align(truth: Any, labels: Any) -> _Aligned:
    """Return two labelings in one node order: by name if both have names, else by position.

    Sets and dicts have no node order: beside a bare array their nodes must be named ``0 .. n-1``,
    and a dict must list them in this order.
    """
    left, right = read_labeling(truth), read_labeling(labels)
    if left.nodes is not None and right.nodes is not None:
        check_named_once(left.nodes)
        codes = np.empty(left.codes.size, np.int64)
        codes[positions_of(right.nodes, left.nodes, "the truth")] = right.codes
        return _Aligned(left.codes, codes, left.groups, right.groups)
    left_codes, right_codes = _by_position(left), _by_position(right)
    check_length(right_codes.size, left_codes.size, "node of the truth")
    return _Aligned(left_codes, right_codes, left.groups, right.groups)


def _by_position(labeling: Labeling) -> Ints:
    nodes, n = labeling.nodes, labeling.codes.size
    if nodes is None or labeling.has_node_order or list(nodes) == list(range(n)):
        return labeling.codes
    check_named_once(nodes)
    whole_numbers = all(isinstance(node, int | np.integer) for node in nodes)
    # A dict in another order is ambiguous; sets can only mean the numbers of their nodes.
    is_sets = isinstance(labeling.groups, range)
    if not is_sets or not whole_numbers or set(nodes) != set(range(n)):
        msg = (
            "labels without node names can be matched only with nodes named 0, 1, 2, ..., "
            f"in that order in a dict, got node {shown_name(nodes[0])} first.\n"
            "  Pass both labelings with node names: two dicts, sets or Partitions."
        )
        raise PartitionError(msg)
    codes = np.empty(n, np.int64)
    codes[np.array(nodes, np.int64)] = labeling.codes
    return codes
