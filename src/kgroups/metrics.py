"""Agreement of two labelings of the same nodes."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from kgroups._output import html_result, html_table, text_table
from kgroups._types import Bools, Floats, Ints
from kgroups._validation import check_choice
from kgroups._wording import counted, shown_name, text_of
from kgroups.adapters import (
    Labeling,
    check_length,
    check_named_once,
    positions_of,
    read_labeling,
)
from kgroups.errors import PartitionError

__all__ = [
    "ConfusionTable",
    "accuracy",
    "ami",
    "ari",
    "confusion",
    "nmi",
    "overlap",
    "variation_of_information",
]

METRIC_NAMES = tuple(name for name in __all__ if name not in ("ConfusionTable", "confusion"))
"""Functions of two labelings that return a number; studies take each of them by name."""

# Classes and groups that a notebook shows.
_MOST_SHOWN = 20
# Larger tables are matched sparsely. Below, the dense matching is four times as fast or more.
_MAX_DENSE_CELLS = 1_000_000
Average = Literal["arithmetic", "geometric"]
_AVERAGES = ("arithmetic", "geometric")
# Terms of the expected information per chunk; bounds the temporary arrays to some 200 MB.
_CHUNK_TERMS = 2_000_000


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
        return text_table([head, *body])


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


def accuracy(truth: Any, labels: Any) -> float:
    """Return the fraction of nodes that the best matching of groups with classes puts right.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        From 0 to 1; 1.0 for two empty labelings.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Each group is matched with at most one class and each class with at most one group, so that
    the sum of the matched counts is largest (rectangular assignment). Nodes of a group or of a
    class that stays unmatched count as wrong.

    Examples
    --------
    >>> accuracy([0, 0, 0, 1, 1], ["b", "b", "a", "a", "a"])
    0.8
    >>> accuracy([0, 0, 0, 0], [0, 0, 1, 2])
    0.5
    """
    table = contingency(truth, labels)
    return matched_nodes(table) / table.n if table.n else 1.0


def overlap(truth: Any, labels: Any) -> float:
    r"""Return the accuracy rescaled so that one label for all equal classes gives 0.

    .. math:: \frac{\mathrm{accuracy} - 1/k}{1 - 1/k}

    with k the number of classes of the truth.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        1 for a perfect match. Below 0 when the accuracy is below 1/k, as with very many groups.
        With one class in the truth, where the formula divides by zero: 1.0 for a perfect match
        and 0.0 for anything else. 1.0 for two empty labelings.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Examples
    --------
    >>> overlap([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> overlap([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    >>> overlap([0, 0, 1, 1], [0, 0, 0, 0])
    0.0
    """
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    k = table.row_sums.size
    if k == 1:
        return 0.0
    # Integers up to the last division, so that exact values come out exact.
    return (k * matched_nodes(table) - table.n) / (table.n * (k - 1))


def ari(truth: Any, labels: Any) -> float:
    """Return the Rand index, adjusted so that chance gives 0 and a perfect match 1.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        At most 1. Symmetric in its arguments. 1.0 for two empty labelings.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Hubert and Arabie's form, with pairs counted in integers; equal to
    ``sklearn.metrics.adjusted_rand_score``.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    both, same_class, same_group = map(_n_pairs, (table.counts, table.row_sums, table.column_sums))
    pairs = table.n * (table.n - 1) // 2
    # Both sides of (both - expected) / (mean - expected) times 2 * pairs: whole numbers of any
    # length in Python, so that nothing overflows or cancels.
    product = 2 * same_class * same_group
    return (2 * pairs * both - product) / (pairs * (same_class + same_group) - product)


def _n_pairs(counts: Ints) -> int:
    return sum(count * (count - 1) // 2 for count in counts.tolist())


def matched_nodes(table: Contingency, *, max_dense_cells: int = _MAX_DENSE_CELLS) -> int:
    """Return how many nodes the best one-to-one matching of classes and groups puts right."""
    return int(table.counts[matched_cells(table, max_dense_cells=max_dense_cells)].sum())


def matched_cells(table: Contingency, *, max_dense_cells: int = _MAX_DENSE_CELLS) -> Bools:
    """Return which cells the best one-to-one matching of classes and groups consists of."""
    if table.is_match:
        return np.ones(table.counts.size, bool)
    if table.shape[0] * table.shape[1] <= max_dense_cells:
        return _match_dense(table)
    matched, places, rest = _settle(table)
    is_dense = rest.shape[0] * rest.shape[1] <= max_dense_cells
    matched[places[_match_dense(rest) if is_dense else _match_sparse(rest)]] = True
    return matched


def _settle(cells: Contingency) -> tuple[Bools, Ints, Contingency]:
    """Match what needs no search; return its cells, and the rest as a smaller table.

    The places of the cells of the smaller table come before it. Of all classes that lie within one
    and the same group, one at most can be matched with it: the largest. The same holds for groups
    within one class. Without the others, a class and a group that share nodes only with each other
    are a match.
    """
    useful = np.ones(cells.counts.size, bool)
    for inner, outer in ((cells.rows, cells.columns), (cells.columns, cells.rows)):
        within = np.flatnonzero(np.bincount(inner)[inner] == 1)
        best_last = within[np.lexsort((cells.counts[within], outer[within]))]
        beaten = outer[best_last][:-1] == outer[best_last][1:]
        useful[best_last[:-1][beaten]] = False
    left = np.flatnonzero(useful)
    rows, columns = cells.rows[left], cells.columns[left]
    alone = (np.bincount(rows)[rows] == 1) & (np.bincount(columns)[columns] == 1)
    settled = np.zeros(cells.counts.size, bool)
    settled[left[alone]] = True
    places = left[~alone]
    row_names, rows = np.unique(cells.rows[places], return_inverse=True)
    column_names, columns = np.unique(cells.columns[places], return_inverse=True)
    shape = (row_names.size, column_names.size)
    return settled, places, Contingency(rows, columns, cells.counts[places], shape)


def _match_dense(cells: Contingency) -> Bools:
    from scipy.optimize import linear_sum_assignment

    table = np.zeros(cells.shape)
    table[cells.rows, cells.columns] = cells.counts
    return _chosen_cells(cells, *linear_sum_assignment(table, maximize=True))


def _match_sparse(cells: Contingency) -> Bools:
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = cells.shape
    # An extra column for each row lets the row stay unmatched. All entries are raised by 1, because
    # a zero entry would be no edge; each row has one match, so that all sums rise by the same.
    own = np.arange(n_rows)
    entries = np.concatenate([cells.counts + 1, np.ones(n_rows, np.int64)]).astype(float)
    ends = (np.concatenate([cells.rows, own]), np.concatenate([cells.columns, n_columns + own]))
    graph = sparse.coo_array((entries, ends), shape=(n_rows, n_columns + n_rows))
    matching = min_weight_full_bipartite_matching(sparse.csr_array(graph), maximize=True)
    return _chosen_cells(cells, *matching)


def _chosen_cells(cells: Contingency, rows: Ints, columns: Ints) -> Bools:
    """Return which cells are in a matching; pairs without nodes have no cell."""
    chosen = np.full(cells.shape[0], -1, np.int64)
    chosen[rows] = columns
    return np.asarray(chosen[cells.rows] == cells.columns)


def nmi(truth: Any, labels: Any, *, average: Average = "arithmetic") -> float:
    r"""Return the normalized mutual information.

    .. math:: \mathrm{NMI} = \frac{I(T; L)}{\mathrm{mean}(H(T), H(L))}

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.
    average : {"arithmetic", "geometric"}
        Mean of the two entropies.

    Returns
    -------
    float
        From 0 to 1, symmetric in its arguments. 1.0 when both labelings are one group, or empty;
        0.0 when only one of them is one group.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Equal to ``sklearn.metrics.normalized_mutual_info_score``. It is not adjusted for chance and
    grows with the number of groups: see :func:`ami`.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="geometric"), 4)
    0.8165
    """
    check_choice("average", average, _AVERAGES)
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    if table.row_sums.size == 1 or table.column_sums.size == 1:
        return 0.0
    return min(1.0, _mutual_information(table) / _mean_entropy(table, average))


def ami(truth: Any, labels: Any, *, average: Average = "arithmetic") -> float:
    r"""Return the mutual information adjusted so that chance gives 0 and a perfect match 1.

    .. math:: \mathrm{AMI} = \frac{I(T; L) - \mathbb{E} I}{\mathrm{mean}(H(T), H(L)) - \mathbb{E} I}

    with the expectation over all assignments of the nodes to groups of the same sizes.

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.
    average : {"arithmetic", "geometric"}
        Mean of the two entropies.

    Returns
    -------
    float
        At most 1, symmetric in its arguments. 1.0 when both labelings are one group, or empty;
        0.0 when only one of them is one group.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    Equal to ``sklearn.metrics.adjusted_mutual_info_score``. The expectation depends on the sizes
    of the groups only, and is computed once for each pair of distinct sizes.

    Examples
    --------
    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(ami([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 4)
    0.2988
    """
    check_choice("average", average, _AVERAGES)
    table = contingency(truth, labels)
    if table.is_match:
        return 1.0
    rows, columns = table.row_sums, table.column_sums
    # With one group, or each node alone, every assignment has the same information.
    if {1, table.n} & {rows.size, columns.size}:
        return 0.0
    expected = expected_mutual_information(rows, columns)
    gained = _mutual_information(table) - expected
    return gained / (_mean_entropy(table, average) - expected)


def variation_of_information(truth: Any, labels: Any) -> float:
    r"""Return the variation of information, a distance between partitions.

    .. math:: \mathrm{VI} = H(T \mid L) + H(L \mid T)

    Parameters
    ----------
    truth, labels : partition_like
        One label per node (array or list), a dict from node to label, a ``Partition``, or sets
        of nodes. Where both have node names, nodes are matched by name, else by position.

    Returns
    -------
    float
        In nats (divide by ``log(2)`` for bits): 0.0 for the same partition, at most ``log(n)``.

    Raises
    ------
    PartitionError
        If the labelings are not of the same nodes.

    Notes
    -----
    A metric: symmetric, zero only for equal partitions, and it obeys the triangle inequality.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 2, 3]), 4)
    0.6931
    """
    table = contingency(truth, labels)
    if table.is_match:
        return 0.0
    of_class = table.counts / table.row_sums[table.rows]
    of_group = table.counts / table.column_sums[table.columns]
    return float(-(table.counts / table.n) @ (np.log(of_class) + np.log(of_group)))


def expected_mutual_information(
    rows: Ints, columns: Ints, *, chunk_terms: int = _CHUNK_TERMS
) -> float:
    """Return the mean mutual information of random tables with these row and column sums.

    Each cell is hypergeometric, so that its part depends on its row and column sum only: equal
    sums are taken together, which leaves at most ``sqrt(2 n)`` distinct ones on each side.
    """
    from scipy.special import gammaln

    n = int(rows.sum())
    log_factorial = gammaln(np.arange(1.0, n + 2.0))
    sizes_a, times_a = np.unique(rows, return_counts=True)
    sizes_b, times_b = np.unique(columns, return_counts=True)
    a, b = (grid.ravel() for grid in np.meshgrid(sizes_a, sizes_b, indexing="ij"))
    times = np.multiply.outer(times_a.astype(float), times_b).ravel()
    terms = np.cumsum(np.minimum(a, b) - np.maximum(0, a + b - n) + 1)
    cuts = np.flatnonzero(np.diff(terms // chunk_terms)) + 1
    total = 0.0
    for start, end in pairwise([0, *cuts.tolist(), a.size]):
        means = _expected_cells(a[start:end], b[start:end], n, log_factorial)
        total += float(times[start:end] @ means)
    return total


def _expected_cells(a: Ints, b: Ints, n: int, log_factorial: Floats) -> Floats:
    """Return the mean of ``x/n log(n x / (a b))`` for each hypergeometric cell ``x``."""
    low = np.maximum(0, a + b - n)
    lengths = np.minimum(a, b) - low + 1
    start = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    x = np.arange(lengths.sum()) + np.repeat(low - start, lengths)
    a_x, b_x = np.repeat(a, lengths), np.repeat(b, lengths)
    log_p = -(
        log_factorial[x]
        + log_factorial[a_x - x]
        + log_factorial[b_x - x]
        + log_factorial[n - a_x - b_x + x]
    )
    # The factors without x are left to the normalization, and their rounding errors with them.
    p = np.exp(log_p - np.repeat(np.maximum.reduceat(log_p, start), lengths))
    gain = np.zeros(x.size)
    some = x > 0
    gain[some] = x[some] / n * np.log(n * (x[some] / a_x[some]) / b_x[some])
    result: Floats = np.add.reduceat(p * gain, start) / np.add.reduceat(p, start)
    return result


def _mutual_information(table: Contingency) -> float:
    p = table.counts / table.n
    lift = p / (table.row_sums[table.rows] / table.n) / (table.column_sums[table.columns] / table.n)
    return max(0.0, float(p @ np.log(lift)))


def _mean_entropy(table: Contingency, average: Average) -> float:
    of_truth, of_labels = _entropy(table.row_sums), _entropy(table.column_sums)
    if average == "geometric":
        return math.sqrt(of_truth * of_labels)
    return (of_truth + of_labels) / 2


def _entropy(sizes: Ints) -> float:
    p = sizes / sizes.sum()
    return float(-p @ np.log(p))
