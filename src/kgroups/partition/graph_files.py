"""Graphs with the communities of their nodes, as files for other programs: GML, GraphML, GEXF."""

import io
import math
import os
import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgroups._validation import name_text, plain_name
from kgroups._wording import shown_name
from kgroups.errors import PartitionError

if TYPE_CHECKING:
    from kgroups.partition.levels import Levels
    from kgroups.partition.partition import Partition

GRAPH_SUFFIXES = (".gml", ".graphml", ".gexf")
# Characters that XML 1.0 cannot contain.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The same partition gives the same file on any day.
_DATE = re.compile(rb' lastmodifieddate="[^"]*"')


def check_graph_names(path: str | os.PathLike[str], nodes: Sequence[Hashable]) -> None:
    """Raise if a graph file cannot hold these names, or two of them would become equal."""
    if isinstance(nodes, range):
        return
    suffix = Path(path).suffix.lower()
    seen: dict[str, Hashable] = {}
    for node in map(plain_name, nodes):
        if type(node) not in (int, str):
            msg = (
                "node names in a graph file must be whole numbers or text, got "
                f"{shown_name(node)} of type {type(node).__name__}.\n"
                "  Write the communities to a .json file."
            )
            raise PartitionError(msg)
        text = name_text(node, "a graph file")
        other = seen.setdefault(text, node)
        if other is not node and type(other) is not type(node):
            msg = (
                f"node names in a graph file must differ as text, got {shown_name(other)} and "
                f"{shown_name(node)}.\n"
                "  Write the communities to a .json file, which keeps types."
            )
            raise PartitionError(msg)
        if suffix != ".gml" and _NOT_IN_XML.search(text):
            msg = f"a {suffix} file cannot hold the node name {text!r}.\n  Write a .gml file."
            raise PartitionError(msg)


def encode_graph(
    partition: "Partition", path: str | os.PathLike[str], levels: "Levels | None" = None
) -> bytes:
    """Return the graph in the format that the suffix names, with the attribute ``community``.

    If confidence was computed, ``confidence`` and ``runner_up`` are attributes, too, and so is
    ``stability``; each of the levels is one under its name. Weights, if the graph has any, become
    the edge attribute ``weight``.
    """
    import networkx as nx

    check_graph_names(path, partition.nodes)
    suffix = Path(path).suffix.lower()
    graph = partition._graph_for(f"saving as {suffix}")
    annotated = graph._with(nodes=tuple(map(plain_name, graph.nodes))).to_networkx()
    partition.annotate(annotated)
    known = partition.known_confidence
    if known is not None:
        columns = (partition.nodes, known.own.tolist(), known.runner_up.tolist())
        for node, sure, other in zip(*columns, strict=True):
            annotated.nodes[node].update(confidence=sure, runner_up=other)
    if partition.known_stability is not None:
        # A node that counts in no resample does not have it.
        for node, share in zip(
            partition.nodes, partition.known_stability.nodes.tolist(), strict=True
        ):
            if not math.isnan(share):
                annotated.nodes[node]["stability"] = share
    if levels is not None:
        for name, level in zip(levels.names, levels, strict=True):
            level.annotate(annotated, name)
    if suffix == ".gml":
        return ("\n".join(nx.generate_gml(annotated)) + "\n").encode("ascii")
    sink = io.BytesIO()
    if suffix == ".graphml":
        nx.write_graphml_xml(annotated, sink)
        return sink.getvalue()
    nx.write_gexf(annotated, sink)
    return _DATE.sub(b"", sink.getvalue(), count=1)
