"""The graph with its communities as a file for Gephi and others: GML or GraphML."""

import io
import re
from collections.abc import Hashable, Sequence
from pathlib import Path

from kgroups._partition_io import write_atomically
from kgroups.errors import PartitionError
from kgroups.graph import Graph
from kgroups.partition import Partition

__all__ = ["GRAPH_SUFFIXES", "check_graph_names", "is_graph_file", "write_graph"]

GRAPH_SUFFIXES = (".gml", ".graphml")
# What XML 1.0 has no way to write.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def is_graph_file(path: str) -> bool:
    """Tell whether the name of a file asks for the graph with its communities."""
    return Path(path).suffix.lower() in GRAPH_SUFFIXES


def check_graph_names(path: str, nodes: Sequence[Hashable]) -> None:
    """Raise if a file cannot hold these names, or could not tell two of them apart."""
    if isinstance(nodes, range):
        return
    seen: dict[str, Hashable] = {}
    for node in nodes:
        if type(node) not in (int, str):
            msg = (
                "node names in a graph file must be whole numbers or text, got "
                f"{node!r} of type {type(node).__name__}.\n"
                "  Write the communities to a .json file."
            )
            raise PartitionError(msg)
        text = str(node)
        other = seen.setdefault(text, node)
        if other is not node and type(other) is not type(node):
            msg = (
                f"node names in a graph file must differ as text, got {other!r} and {node!r}.\n"
                "  Write the communities to a .json file, which keeps types."
            )
            raise PartitionError(msg)
        if Path(path).suffix.lower() == ".graphml" and _NOT_IN_XML.search(text):
            msg = (
                f"a .graphml file has no way to write the node name {text!r}.\n  Write a .gml file."
            )
            raise PartitionError(msg)


def write_graph(path: str, graph: Graph, partition: Partition) -> None:
    """Write the graph, whole or not at all, with the node attribute ``community``.

    Weights are the edge attribute ``weight`` where the graph has any.
    """
    import networkx as nx

    annotated = graph.to_networkx()
    partition.annotate(annotated)
    if Path(path).suffix.lower() == ".gml":
        content = ("\n".join(nx.generate_gml(annotated)) + "\n").encode("ascii")
    else:
        sink = io.BytesIO()
        nx.write_graphml_xml(annotated, sink)
        content = sink.getvalue()
    write_atomically(path, content)
