"""What a Partition is made of: labels and node names, checked and put in order."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from kgroups._types import Ints
from kgroups.errors import PartitionError
from kgroups.graph import Graph

__all__ = ["checked_labels", "checked_nodes", "largest_first"]


def checked_labels(labels: npt.ArrayLike) -> Ints:
    """Return one whole number per node, or raise."""
    z = np.asarray(labels)
    if z.ndim == 1 and z.size == 0:
        return np.zeros(0, np.int64)
    if z.ndim != 1 or z.dtype.kind not in "iu":
        msg = (
            "labels must be one whole number per node, got an array of "
            f"{z.dtype} of shape {z.shape}.\n"
            "  np.unique(labels, return_inverse=True)[1] makes numbers of other labels."
        )
        raise PartitionError(msg)
    return z.astype(np.int64)


def checked_nodes(
    nodes: Sequence[Hashable] | None, graph: Graph | None, n: int
) -> Sequence[Hashable]:
    """Return the names of ``n`` nodes, those of the graph where there is one."""
    if graph is not None and (nodes is None or nodes is graph.nodes):
        _check_length(graph.nodes, n)
        return graph.nodes
    if nodes is None:
        return range(n)
    names = nodes if isinstance(nodes, range) else tuple(_plain(nodes))
    _check_length(names, n)
    if graph is not None:
        if list(names) != list(graph.nodes):
            msg = (
                "nodes must be those of the graph, in its order.\n"
                "  Leave nodes out to take them from the graph."
            )
            raise PartitionError(msg)
        return graph.nodes
    if len(set(names)) < n:
        seen: set[Hashable] = set()
        for name in names:
            if name in seen:
                msg = f"each node must be named once, got {name!r} more than once."
                raise PartitionError(msg)
            seen.add(name)
    return names


def _check_length(names: Sequence[Hashable], n: int) -> None:
    if len(names) != n:
        msg = f"there must be one label for each of the {len(names)} nodes, got {n} labels."
        raise PartitionError(msg)


def _plain(nodes: Sequence[Hashable]) -> Sequence[Hashable]:
    """Return the names of a NumPy array as Python objects, anything else as it is."""
    return nodes.tolist() if isinstance(nodes, np.ndarray) else nodes


def largest_first(z: Ints) -> Ints:
    """Renumber labels by falling size; communities of one size by their first node."""
    if z.size and (z.min() < 0 or z.max() >= 2 * z.size):
        z = np.unique(z, return_inverse=True)[1]
    sizes = np.bincount(z)
    first = np.full(sizes.size, z.size)
    first[z[::-1]] = np.arange(z.size)[::-1]
    order = np.lexsort((first, -sizes))
    number = np.empty(sizes.size, np.int64)
    number[order] = np.arange(sizes.size)
    renumbered = number[z]
    renumbered.flags.writeable = False
    return renumbered
