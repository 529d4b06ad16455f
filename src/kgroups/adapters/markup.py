"""GML and GraphML files, parsed by networkx once they are known to be harmless."""

import re
import sys
from typing import Any, BinaryIO
from xml.parsers import expat

from kgroups.adapters.networkx import from_networkx
from kgroups.adapters.text import (
    ReadOptions,
    format_error,
    named_as_in_file,
    numbered_lines,
    parsing,
    plain_number,
    too_many_digits,
)
from kgroups.graph import Graph

__all__ = ["read_gml", "read_graphml"]

_GML_INTEGER = re.compile(r"[+-]?[0-9]+")


def read_gml(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read a GML file; nodes are named by ``label`` where it is unique, else by ``id``."""
    lines = [line for _, line in numbered_lines(file, name)]
    _refuse_long_integers(lines, name)
    with parsing(name, "GML"):
        parsed = _parse_gml(lines)
    labels = [data.get("label") for _, data in parsed.nodes(data=True)]
    if None in labels or len(set(map(str, labels))) < len(labels):
        labels = list(parsed)
    graph = from_networkx(parsed, options.weight, options.symmetrize)
    return _renamed(graph, labels, file, name)


def _refuse_long_integers(lines: list[str], name: str) -> None:
    """Name the line of an integer that is longer than Python reads; networkx does not."""
    most = sys.get_int_max_str_digits()
    for number, line in enumerate(lines, 1):
        if most and len(line) > most:
            for word in line.split():
                if len(word) > most and _GML_INTEGER.fullmatch(word):
                    raise too_many_digits(name, number, word)


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


def read_graphml(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read the first graph of a GraphML file; a default weight that it declares is used."""
    import networkx as nx

    weight = options.weight
    with parsing(name, "XML"):
        _check_markup(file, name, weight)
    file.seek(0)
    with parsing(name, "GraphML"):
        parsed = nx.read_graphml(file)
    default = parsed.graph.get("edge_default", {}).get(weight)
    if default is not None:
        for _, _, data in parsed.edges(data=True):
            data.setdefault(weight, default)
    graph = from_networkx(parsed, weight, options.symmetrize)
    return _renamed(graph, list(parsed), file, name)


def _check_markup(file: BinaryIO, name: str, weight: str | None) -> None:
    """Walk through the XML with handlers only, so that no entity is ever expanded.

    Weights are looked at on the way, because networkx reads ``1_0`` as ten.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    weight_keys: set[str | None] = set()
    is_weight_key = False
    line = 0
    parts: list[str] = []

    def refuse(*_: object) -> None:
        problem = "a GraphML file must not declare a document type or entities"
        hint = "Remove the <!DOCTYPE ...> declaration."
        raise format_error(name, parser.CurrentLineNumber, problem, hint)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal is_weight_key, line
        kind = tag.rpartition(":")[2]
        if kind == "key":
            is_weight_key = attributes.get("attr.name") == weight and attributes.get(
                "attr.type", "string"
            ) not in ("string", "boolean")
            if is_weight_key:
                weight_keys.add(attributes.get("id"))
        elif (kind == "data" and attributes.get("key") in weight_keys) or (
            kind == "default" and is_weight_key
        ):
            line = parser.CurrentLineNumber
            parts.clear()
            parser.CharacterDataHandler = parts.append

    def end(_: str) -> None:
        if parser.CharacterDataHandler is None:
            return
        parser.CharacterDataHandler = None
        text = "".join(parts).strip()
        try:
            plain_number(text)
        except ValueError:
            problem = f"a weight must be a number, got {text!r}"
            raise format_error(name, line, problem, "Correct this weight.") from None

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    if weight is not None:
        parser.StartElementHandler = start
        parser.EndElementHandler = end
    parser.ParseFile(file)


def _renamed(graph: Graph, labels: list[object], file: BinaryIO, name: str) -> Graph:
    return Graph(
        graph.indptr,
        graph.indices,
        graph.weights,
        multiplicity=graph.multiplicity,
        nodes=tuple(named_as_in_file(labels, file, name)),
    )
