"""Hand a partition to networkx and igraph: match their nodes, write what they use."""

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from kgroups.errors import InputError, PartitionError

__all__ = ["annotate_graph", "labels_of_vertices"]

# igraph.Graph.from_networkx keeps the networkx names under the second attribute.
_NAME_ATTRIBUTES = ("name", "_nx_name")


def annotate_graph(G: Any, membership: Mapping[Hashable, int], name: str) -> None:
    """Set the node attribute ``name`` of a networkx or igraph graph to the community."""
    packages = {parent.__module__.partition(".")[0] for parent in type(G).__mro__}
    if "networkx" in packages:
        _check_same_nodes(list(G.nodes), membership, "G")
        for node, community in membership.items():
            G.nodes[node][name] = community
    elif "igraph" in packages:
        G.vs[name] = labels_of_vertices(G, membership)
    else:
        msg = (
            "annotate() writes into a networkx or an igraph graph, got "
            f"{type(G).__module__}.{type(G).__qualname__}.\n"
            "  partition.membership and partition.labels hold the same for any other use."
        )
        raise InputError(msg)


def labels_of_vertices(g: Any, membership: Mapping[Hashable, int]) -> list[int]:
    """Return the community of each igraph vertex, matched by name, else by number."""
    named = [g.vs[key] for key in _NAME_ATTRIBUTES if key in g.vs.attributes()]
    numbers = list(range(g.vcount()))
    for names in (*named, numbers):
        if all(isinstance(name, Hashable) for name in names) and (
            len(names) == len(membership) and membership.keys() == set(names)
        ):
            return [membership[name] for name in names]
    _check_same_nodes(named[0] if named else numbers, membership, "the igraph graph")
    msg = "the igraph graph has two vertices of one name. Give each vertex a name of its own."
    raise PartitionError(msg)


def _check_same_nodes(
    names: Collection[Hashable], membership: Mapping[Hashable, int], graph: str
) -> None:
    unknown = [name for name in names if name not in membership]
    present = set(names)
    missing = [node for node in membership if node not in present]
    if unknown or missing:
        node, *others = unknown or missing
        more = f" (and {len(others)} more)" if others else ""
        place = "has not" if missing and not unknown else "has and the partition has not"
        msg = (
            f"the graph and the partition must have the same nodes; {graph} {place} "
            f"{node!r}{more}.\n"
            "  Use the graph that the partition was found on."
        )
        raise PartitionError(msg)
