"""Partitions in: sets, label arrays, dicts and clusterings become one label array."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from kgroups._types import Ints
from kgroups.errors import PartitionError
from kgroups.graph import Graph

__all__ = ["Labelling", "as_labels", "positions_of", "read_labelling"]

_FORMS = (
    "  Pass a sequence of sets of nodes, one label per node in node order, "
    "a dict from node to label, a Partition or an igraph VertexClustering."
)


@dataclass(frozen=True, eq=False)
class Labelling:
    """A partition as it was given, before its nodes are matched with those of a graph.

    Attributes
    ----------
    codes : ndarray of int
        Group of each node, an index into ``groups``.
    groups : sequence of hashable
        The caller's name of each group; ``range(k)`` where sets have no names.
    nodes : sequence of hashable or None
        Name of each node; ``None`` when position is all there is.
    has_node_order : bool
        Whether position ``i`` is node ``i`` of the graph that the labels belong to.
    has_group_order : bool
        Whether the groups are numbered by the caller, so that the numbers must stay.
    """

    codes: Ints
    groups: Sequence[Hashable]
    nodes: Sequence[Hashable] | None
    has_node_order: bool
    has_group_order: bool


def as_labels(partition: Any, graph: Graph) -> Ints:
    """Return the community of each node, numbered from 0, in the node order of the graph.

    Parameters
    ----------
    partition : partition_like
        A ``Partition``; a sequence or other iterable of sets of nodes; one label per node in the
        order of the graph's nodes; a dict or pandas Series from node to label; or an igraph
        ``VertexClustering``, matched by vertex name where its graph has names.
    graph : Graph
        The graph whose nodes are labelled.

    Returns
    -------
    ndarray of int64, shape (n,)
        Labels that were already ``0 .. k-1`` stay as they are, and sets keep their order. All
        other labels are numbered by first appearance in node order.

    Raises
    ------
    PartitionError
        If a node is missing, repeated or unknown, or a label is missing or not hashable.

    Notes
    -----
    A sequence whose elements are collections (sets, lists, tuples, arrays) is a sequence of
    communities; one whose elements are strings or other scalars is a sequence of labels. Tuples
    can therefore be labels in a dict only. Empty sets are dropped. A pandas Series with a default
    index is read by position, with any other index by node name.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=["a", "b", "c", "d"])
    >>> as_labels([{"c", "d"}, {"a", "b"}], graph)
    array([1, 1, 0, 0])
    >>> as_labels(["right", "left", "left", "right"], graph)
    array([0, 1, 1, 0])
    >>> as_labels({"d": 7, "c": 7, "b": 7, "a": 3}, graph)
    array([0, 1, 1, 1])
    """
    labelling = read_labelling(partition)
    labels = labelling.codes
    if labelling.nodes is None:
        check_length(labels.size, graph.n, "node of the graph")
    elif not _same_names(labelling.nodes, graph.nodes):
        labels = np.empty(graph.n, np.int64)
        labels[positions_of(labelling.nodes, graph.nodes, "the graph")] = labelling.codes
    if labelling.has_group_order:
        return labels
    return _numbered_by_first_appearance(labels, len(labelling.groups))


def read_labelling(partition: Any) -> Labelling:
    """Return groups, and node names where the partition has them, of any partition_like."""
    if hasattr(partition, "labels") and hasattr(partition, "nodes"):
        return _labelled(partition.labels, partition.nodes, has_node_order=True)
    if type(partition).__module__.partition(".")[0] == "igraph" and hasattr(
        partition, "membership"
    ):
        return _labelled(partition.membership, _vertex_names(partition), has_node_order=True)
    if type(partition).__module__.partition(".")[0] == "pandas" and hasattr(partition, "index"):
        return _read_pandas(partition)
    if isinstance(partition, Mapping):
        return _labelled(list(partition.values()), list(partition), has_node_order=False)
    if isinstance(partition, str | bytes) or not (
        isinstance(partition, Iterable) or hasattr(partition, "__array__")
    ):
        msg = f"a partition must name the community of every node, got {partition!r}.\n{_FORMS}"
        raise PartitionError(msg)
    if isinstance(partition, np.ma.MaskedArray):
        msg = f"an array of labels must not be masked, got {partition!r}.\n{_FORMS}"
        raise PartitionError(msg)
    if hasattr(partition, "__array__"):
        return _read_array(np.asarray(partition))
    elements = list(partition)
    if not elements or _is_block(elements[0]):
        return _read_blocks(elements, has_group_order=not isinstance(partition, Set))
    if isinstance(partition, Set):
        msg = (
            "a partition must be a collection of sets of nodes, got a single set that contains "
            f"{elements[0]!r}.\n{_FORMS}"
        )
        raise PartitionError(msg)
    return _labelled(elements, None, has_node_order=True)


def positions_of(nodes: Sequence[Hashable], names: Sequence[Hashable], whole: str) -> Ints:
    """Return where each of ``nodes`` stands among ``names``; both must hold the same nodes once."""
    n = len(names)
    found = _positions_in_range(nodes, n) if isinstance(names, range) else None
    if found is None:
        found = _positions_by_name(nodes, names, whole)
    counts = np.bincount(found, minlength=n)
    if n and counts.max() > 1:
        raise PartitionError(
            repeated_nodes_message([names[i] for i in np.flatnonzero(counts > 1).tolist()])
        )
    if n and counts.min() == 0:
        lost = [names[i] for i in np.flatnonzero(counts == 0).tolist()]
        msg = (
            f"a partition must hold every node of {whole}, but {_listed(lost)} "
            f"{'is' if len(lost) == 1 else 'are'} in no community.\n"
            "  Add the missing nodes, each as a community of its own if it belongs to none."
        )
        raise PartitionError(msg)
    return found


def check_length(n_labels: int, n: int, unit: str) -> None:
    """Raise unless there is one label per node."""
    if n_labels != n:
        msg = (
            f"labels must have one entry per {unit}: {n} expected, got {n_labels}.\n"
            "  Pass them in node order, or pass a dict from node to label."
        )
        raise PartitionError(msg)


def repeated_nodes_message(nodes: Sequence[Hashable]) -> str:
    """Say which nodes stand in a partition more than once."""
    return (
        f"a partition must hold each node once, got {_listed(nodes)} more than once.\n"
        "  Leave each node in one community only; overlapping communities are not supported."
    )


def _read_blocks(blocks: list[Any], *, has_group_order: bool) -> Labelling:
    for block in blocks:
        if not _is_block(block):
            raise PartitionError(_mixed_message(block))
    filled = [block for block in blocks if len(block)]
    sizes = np.fromiter(map(len, filled), np.int64, len(filled))
    return Labelling(
        codes=np.repeat(np.arange(len(filled)), sizes),
        groups=range(len(filled)),
        nodes=list(chain.from_iterable(filled)),
        has_node_order=False,
        has_group_order=has_group_order,
    )


def _read_array(values: Any) -> Labelling:
    if values.ndim != 1:
        msg = f"an array of labels must be one-dimensional, got shape {values.shape}.\n{_FORMS}"
        raise PartitionError(msg)
    if values.dtype == object and values.size and _is_block(values[0]):
        return _read_blocks(values.tolist(), has_group_order=True)
    return _labelled(values, None, has_node_order=True)


def _read_pandas(series: Any) -> Labelling:
    if getattr(series, "ndim", None) != 1:
        msg = f"labels must be one pandas Series, got a {type(series).__name__}.\n{_FORMS}"
        raise PartitionError(msg)
    index = series.index
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return _labelled(series.tolist(), None, has_node_order=True)
    return _labelled(series.tolist(), index.tolist(), has_node_order=False)


def _vertex_names(clustering: Any) -> list[Hashable] | None:
    vertices = clustering.graph.vs
    return list(vertices["name"]) if "name" in vertices.attributes() else None


def _labelled(values: Any, nodes: Sequence[Hashable] | None, *, has_node_order: bool) -> Labelling:
    if nodes is not None:
        check_length(len(values), len(nodes), "named node")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.size:
        codes, groups = _code_integers(values)
    else:
        codes, groups = _code_hashables(list(values), nodes)
    return Labelling(codes, groups, nodes, has_node_order, groups == list(range(len(groups))))


def _code_integers(values: Any) -> tuple[Ints, list[Hashable]]:
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * values.size + 1024:
        groups, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), groups.tolist()
    offset = values.astype(np.int64) - low if high < 2**63 else (values - low).astype(np.int64)
    seen = np.zeros(high - low + 1, bool)
    seen[offset] = True
    return (np.cumsum(seen) - 1)[offset], [low + i for i in np.flatnonzero(seen).tolist()]


def _code_hashables(
    values: list[Any], nodes: Sequence[Hashable] | None
) -> tuple[Ints, list[Hashable]]:
    code: dict[Hashable, int] = {}
    try:
        codes = np.array([code.setdefault(value, len(code)) for value in values], np.int64)
    except TypeError:
        at = next(i for i, value in enumerate(values) if not _is_hashable(value))
        if nodes is None and _is_block(values[at]):
            raise PartitionError(_mixed_message(values[0])) from None
        msg = (
            f"labels must be hashable, got {values[at]!r} for {_place(at, nodes)}.\n"
            "  Use numbers or strings as labels."
        )
        raise PartitionError(msg) from None
    for group in code:
        if _is_missing(group):
            at = int(np.flatnonzero(codes == code[group])[0])
            msg = (
                f"every node must have a label, got {group!r} for {_place(at, nodes)}.\n"
                "  Give every node a label, for instance one of its own."
            )
            raise PartitionError(msg)
        if nodes is None and _is_block(group):
            scalar = next(value for value in values if not _is_block(value))
            raise PartitionError(_mixed_message(scalar))
    groups = list(code)
    try:
        order = sorted(range(len(groups)), key=groups.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        return codes, groups
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups))
    return rank[codes], [groups[a] for a in order]


def _numbered_by_first_appearance(codes: Ints, k: int) -> Ints:
    n = codes.size
    first = np.full(k, n, np.int64)
    # Of repeated indices numpy keeps the last assignment: backwards, that is the first node.
    first[codes[::-1]] = np.arange(n - 1, -1, -1)
    rank = np.empty(k, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(k)
    return rank[codes]


def _positions_in_range(nodes: Sequence[Hashable], n: int) -> Ints | None:
    """Return integer names as positions, or ``None`` where a dict must look the names up."""
    kinds = set(map(type, nodes))
    if not kinds or not kinds <= {int, np.int64, np.int32}:
        return None
    try:
        found = np.array(nodes, np.int64)
    except OverflowError:
        return None
    return found if found.min() >= 0 and found.max() < n else None


def _positions_by_name(nodes: Sequence[Hashable], names: Sequence[Hashable], whole: str) -> Ints:
    index = {name: i for i, name in enumerate(names)}
    try:
        return np.fromiter(map(index.__getitem__, nodes), np.int64, len(nodes))
    except (KeyError, TypeError):
        strangers = [node for node in nodes if not (_is_hashable(node) and node in index)]
    example = f", such as {names[0]!r}" if len(names) else ""
    msg = (
        f"a partition must hold the nodes of {whole} only, got {_listed(strangers)}.\n"
        f"  Use the names of its {len(names)} nodes{example}, with their type."
    )
    raise PartitionError(msg)


def _same_names(nodes: Sequence[Hashable], names: Sequence[Hashable]) -> bool:
    if isinstance(nodes, range) and isinstance(names, range):
        return nodes == names
    return nodes is names or (len(nodes) == len(names) and list(nodes) == list(names))


def _is_block(value: object) -> bool:
    if isinstance(value, str | bytes | Mapping):
        return False
    return isinstance(value, Collection) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_missing(value: Any) -> bool:
    """Say whether a label differs from itself, as NaN, NaT and pandas.NA do."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def _mixed_message(value: object) -> str:
    return (
        "a partition must hold either sets of nodes or one label per node, got both: "
        f"{value!r} stands beside collections of nodes.\n{_FORMS}"
    )


def _place(i: int, nodes: Sequence[Hashable] | None) -> str:
    return f"the node in place {i}" if nodes is None else f"node {nodes[i]!r}"


def _listed(nodes: Sequence[Hashable]) -> str:
    shown = ", ".join(repr(node) for node in nodes[:3])
    more = f" (and {len(nodes) - 3} more)" if len(nodes) > 3 else ""
    return f"{'node' if len(nodes) == 1 else 'nodes'} {shown}{more}"
