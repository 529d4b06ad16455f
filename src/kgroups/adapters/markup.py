"""GML and GraphML files, parsed by networkx once they are known to be harmless."""

import re
from typing import Any, BinaryIO
from xml.parsers import expat

from kgroups._types import Symmetrize
from kgroups.adapters.networkx import from_networkx
from kgroups.adapters.text import format_error, named_as_in_file, numbered_lines, parsing
from kgroups.graph import Graph

__all__ = ["read_gml", "read_graphml"]


def read_gml(file: BinaryIO, name: str, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
    """Read a GML file; nodes are named by ``label`` where it is unique, else by ``id``."""
    lines = [line for _, line in numbered_lines(file, name)]
    with parsing(name, "GML"):
        parsed = _parse_gml(lines)
    labels = [data.get("label") for _, data in parsed.nodes(data=True)]
    if None in labels or len(set(map(str, labels))) < len(labels):
        labels = list(parsed)
    return _renamed(from_networkx(parsed, weight, symmetrize), labels)


def _parse_gml(lines: list[str]) -> Any:
    import networkx as nx

    try:
        return nx.parse_gml(lines, label="id")
    except nx.NetworkXError as error:
        if "is duplicated" not in str(error) or "edge" not in str(error):
            raise
    # Many files list parallel edges without the flag that networkx asks for.
    text = re.sub(r"(?m)^(\s*graph\s*\[)", r"\1 multigraph 1 ", "\n".join(lines), count=1)
    return nx.parse_gml(text.split("\n"), label="id")


def read_graphml(
    file: BinaryIO, name: str, weight: str | None, symmetrize: Symmetrize | None
) -> Graph:
    """Read the first graph of a GraphML file; a default weight that it declares is used."""
    import networkx as nx

    with parsing(name, "XML"):
        _refuse_entities(file, name)
    file.seek(0)
    with parsing(name, "GraphML"):
        parsed = nx.read_graphml(file)
    default = parsed.graph.get("edge_default", {}).get(weight)
    if default is not None:
        for _, _, data in parsed.edges(data=True):
            data.setdefault(weight, default)
    return _renamed(from_networkx(parsed, weight, symmetrize), list(parsed))


def _refuse_entities(file: BinaryIO, name: str) -> None:
    """Walk through the XML with handlers only, so that no entity is ever expanded."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        problem = "a GraphML file must not declare a document type or entities"
        hint = "Remove the <!DOCTYPE ...> declaration."
        raise format_error(name, parser.CurrentLineNumber, problem, hint)

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ParseFile(file)


def _renamed(graph: Graph, labels: list[object]) -> Graph:
    return Graph(
        graph.indptr,
        graph.indices,
        graph.weights,
        multiplicity=graph.multiplicity,
        nodes=tuple(named_as_in_file(labels)),
    )
