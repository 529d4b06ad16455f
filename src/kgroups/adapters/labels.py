"""Partitions in any form (sets, label arrays, dicts, clusterings) to one label array."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Ints
from kgroups._wording import shown_name
from kgroups.adapters.numbering import by_first_node, is_missing, unique_integers
from kgroups.errors import PartitionError
from kgroups.graph import Graph


@dataclass(frozen=True, eq=False)
class Labeling:
    """A partition as it was given, before its nodes are matched with those of a graph."""

    codes: Ints
    """Group of each node, an index into ``groups``."""
    groups: Sequence[Hashable]
    """The caller's name of each group; ``range(k)`` where sets have no names."""
    nodes: Sequence[Hashable] | None
    """Name of each node; ``None`` if nodes are identified by position only."""
    has_node_order: bool
    """Whether position ``i`` is node ``i`` of the graph that the labels belong to."""
    has_group_order: bool
    """Whether the caller numbered the groups, so that the numbers must be kept."""


def as_labels(partition: Any, graph: Graph) -> Ints:
    """Return the community of each node, numbered from 0, in the node order of the graph.

    Parameters
    ----------
    partition : partition_like
        A ``Partition``; a sequence or other iterable of sets of nodes; one label per node in the
        order of the graph's nodes; a dict or pandas Series from node to label; or an igraph
        ``VertexClustering``, matched by vertex name where its graph has names.
    graph : Graph
        The graph whose nodes are labeled.

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
    labeling = read_labeling(partition)
    labels = labeling.codes
    if labeling.nodes is None:
        check_length(labels.size, graph.n, "node of the graph")
    elif labeling.nodes is not graph.nodes and list(labeling.nodes) != list(graph.nodes):
        labels = np.empty(graph.n, np.int64)
        labels[positions_of(labeling.nodes, graph.nodes, "the graph")] = labeling.codes
    if labeling.has_group_order:
        return labels
    return by_first_node(labels)[1]


class SharedLabels(NamedTuple):
    """Labels of a partition of other nodes than those of a graph, carried over to the graph."""

    labels: Ints
    """Community of each node in the order of the graph; each new node has a separate one."""
    new: int
    """Nodes that the partition does not have."""
    vanished: int
    """Nodes of the partition that the graph does not have."""


def as_shared_labels(partition: Any, graph: Graph) -> SharedLabels:
    """Return labels as :func:`as_labels` does, where graph and partition share nodes at all.

    Labels without names of nodes belong to the nodes of the graph, and there must be one for each.
    """
    labeling = read_labeling(partition)
    names = graph.nodes if labeling.nodes is None else labeling.nodes
    place = _places(names, graph.nodes)
    shared = place >= 0
    if shared.all() and len(names) == graph.n:
        return SharedLabels(as_labels(partition, graph), 0, 0)
    if not shared.any():
        has = f"{len(names)} others{_example(names)}" if len(names) else "none"
        msg = (
            f"labels to start from must share nodes with the graph, got {has}.\n"
            f"  The graph has {graph.n}{_example(graph.nodes)}; use its names, with their type."
        )
        raise PartitionError(msg)
    check_named_once(names)
    new = np.setdiff1d(np.arange(graph.n), place[shared])
    labels = np.empty(graph.n, np.int64)
    labels[place[shared]] = labeling.codes[shared]
    labels[new] = len(labeling.groups) + np.arange(new.size)
    return SharedLabels(by_first_node(labels)[1], new.size, int(np.count_nonzero(~shared)))


def read_labeling(partition: Any) -> Labeling:
    """Return groups, and node names where the partition has them, of any partition_like."""
    if hasattr(partition, "labels") and hasattr(partition, "nodes"):
        return _labeled(partition.labels, partition.nodes, has_node_order=True)
    package = type(partition).__module__.partition(".")[0]
    if package == "igraph" and hasattr(partition, "membership"):
        vertices = partition.graph.vs
        names = list(vertices["name"]) if "name" in vertices.attributes() else None
        return _labeled(partition.membership, names, has_node_order=True)
    if package == "pandas" and hasattr(partition, "index"):
        return _read_pandas(partition)
    if isinstance(partition, Mapping):
        return _labeled(list(partition.values()), list(partition), has_node_order=False)
    if isinstance(partition, str | bytes) or not (
        isinstance(partition, Iterable) or hasattr(partition, "__array__")
    ):
        problem = f"a partition must name the community of every node, got {shown_name(partition)}"
        raise _error(problem)
    if isinstance(partition, np.ma.MaskedArray):
        problem = f"an array of labels must not be masked, got {shown_name(partition)}"
        raise _error(problem)
    if hasattr(partition, "__array__"):
        return _read_array(np.asarray(partition))
    elements = list(partition)
    if not elements or _is_block(elements[0]):
        return _read_blocks(elements, has_group_order=not isinstance(partition, Set))
    if isinstance(partition, Set):
        problem = (
            "a partition must be a collection of sets of nodes, got a single set that contains"
        )
        problem += f" {shown_name(elements[0])}"
        raise _error(problem)
    return _labeled(elements, None, has_node_order=True)


def positions_of(nodes: Sequence[Hashable], names: Sequence[Hashable], whole: str) -> Ints:
    """Return the position of each node in ``names``; both must hold the same nodes once."""
    n = len(names)
    found = _positions(nodes, names, whole)
    counts = np.bincount(found, minlength=n)
    if n and counts.max() > 1:
        raise PartitionError(
            _repeated_nodes_message([names[i] for i in np.flatnonzero(counts > 1).tolist()])
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


def _repeated_nodes_message(nodes: Sequence[Hashable]) -> str:
    """Return the error message for nodes that a partition holds more than once."""
    return (
        f"a partition must hold each node once, got {_listed(nodes)} more than once.\n"
        "  Leave each node in one community only; overlapping communities are not supported."
    )


def check_named_once(nodes: Sequence[Hashable]) -> None:
    """Raise if a partition holds a node more than once."""
    try:
        counts = Counter(nodes)
    except TypeError as error:
        msg = f"node names must be hashable: {error}.\n  Use numbers, strings or tuples."
        raise PartitionError(msg) from None
    if len(counts) < len(nodes):
        repeated = [node for node, count in counts.items() if count > 1]
        raise PartitionError(_repeated_nodes_message(repeated))


def _read_blocks(blocks: list[Any], *, has_group_order: bool) -> Labeling:
    for block in blocks:
        if not _is_block(block):
            raise _mixed(block)
    filled = [block for block in blocks if len(block)]
    sizes = np.fromiter(map(len, filled), np.int64, len(filled))
    return Labeling(
        codes=np.repeat(np.arange(len(filled)), sizes),
        groups=range(len(filled)),
        nodes=list(chain.from_iterable(filled)),
        has_node_order=False,
        has_group_order=has_group_order,
    )


def _read_array(values: Any) -> Labeling:
    if values.ndim != 1:
        problem = f"an array of labels must be one-dimensional, got shape {values.shape}"
        raise _error(problem)
    if values.dtype == object and values.size and _is_block(values[0]):
        return _read_blocks(values.tolist(), has_group_order=True)
    return _labeled(values, None, has_node_order=True)


def _read_pandas(series: Any) -> Labeling:
    if getattr(series, "ndim", None) != 1:
        problem = f"labels must be one pandas Series, got a {type(series).__name__}"
        raise _error(problem)
    index = series.index
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return _labeled(series.tolist(), None, has_node_order=True)
    return _labeled(series.tolist(), index.tolist(), has_node_order=False)


def _labeled(values: Any, nodes: Sequence[Hashable] | None, *, has_node_order: bool) -> Labeling:
    if nodes is not None:
        check_length(len(values), len(nodes), "named node")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.size:
        numbers, (narrow,) = unique_integers(values)
        groups: list[Hashable] = numbers.tolist()
        codes = narrow.astype(np.int64, copy=False)
    else:
        groups, codes = _code_hashables(list(values), nodes)
    return Labeling(codes, groups, nodes, has_node_order, groups == list(range(len(groups))))


def _code_hashables(
    values: list[Any], nodes: Sequence[Hashable] | None
) -> tuple[list[Hashable], Ints]:
    """Return the distinct labels, sorted if they can be, and the index among them of each value."""
    code: dict[Hashable, int] = {}
    try:
        codes = np.array([code.setdefault(value, len(code)) for value in values], np.int64)
    except TypeError:
        at = next(i for i, value in enumerate(values) if not _is_hashable(value))
        if nodes is None and _is_block(values[at]):
            raise _mixed(values[0]) from None
        msg = (
            f"labels must be hashable, got {shown_name(values[at])} for {_place(at, nodes)}.\n"
            "  Use numbers or strings as labels."
        )
        raise PartitionError(msg) from None
    for group in code:
        if is_missing(group):
            at = int(np.flatnonzero(codes == code[group])[0])
            msg = (
                f"every node must have a label, got {shown_name(group)} for {_place(at, nodes)}.\n"
                "  Give every node a label, for instance one of its own."
            )
            raise PartitionError(msg)
        if nodes is None and _is_block(group):
            raise _mixed(next(value for value in values if not _is_block(value)))
    groups = list(code)
    try:
        order = sorted(range(len(groups)), key=groups.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        return groups, codes
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups))
    return [groups[a] for a in order], rank[codes]


def _positions(nodes: Sequence[Hashable], names: Sequence[Hashable], whole: str) -> Ints:
    found = _places(nodes, names)
    unknown = [nodes[i] for i in np.flatnonzero(found < 0).tolist()]
    if not unknown:
        return found
    msg = (
        f"a partition must hold the nodes of {whole} only, got {_listed(unknown)}.\n"
        f"  Use the names of its {len(names)} nodes{_example(names)}, with their type."
    )
    raise PartitionError(msg)


def _places(nodes: Sequence[Hashable], names: Sequence[Hashable]) -> Ints:
    """Return the position of each node in ``names``, -1 where it is not there."""
    n = len(names)
    if isinstance(names, range) and set(map(type, nodes)) <= {int, np.int64, np.int32}:
        with suppress(OverflowError):
            found = np.array(nodes, np.int64)
            return np.where((found >= 0) & (found < n), found, -1)
    index = {name: i for i, name in enumerate(names)}
    try:
        return np.fromiter((index.get(node, -1) for node in nodes), np.int64, len(nodes))
    except TypeError:
        known = (index.get(node, -1) if _is_hashable(node) else -1 for node in nodes)
        return np.fromiter(known, np.int64, len(nodes))


def _is_block(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _error(problem: str) -> PartitionError:
    return PartitionError(
        f"{problem}.\n  Pass a sequence of sets of nodes, one label per node in node order, "
        "a dict from node to label, a Partition or an igraph VertexClustering."
    )


def _mixed(value: object) -> PartitionError:
    return _error(
        "a partition must hold either sets of nodes or one label per node, got both: "
        f"{shown_name(value)} beside collections of nodes"
    )


def _place(i: int, nodes: Sequence[Hashable] | None) -> str:
    return f"the node at position {i}" if nodes is None else f"node {shown_name(nodes[i])}"


def _example(nodes: Sequence[Hashable]) -> str:
    return f", such as {shown_name(nodes[0])}" if len(nodes) else ""


def _listed(nodes: Sequence[Hashable]) -> str:
    shown = ", ".join(map(shown_name, nodes[:3]))
    more = f" (and {len(nodes) - 3} more)" if len(nodes) > 3 else ""
    return f"{'node' if len(nodes) == 1 else 'nodes'} {shown}{more}"
