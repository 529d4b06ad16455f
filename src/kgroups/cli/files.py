"""Files of the command line: graphs and partitions that are read, and files that are written."""

import argparse
import io
import math
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgroups import datasets
from kgroups._files import check_writable, write_atomically
from kgroups.adapters import read_graph
from kgroups.adapters.files import STANDARD_INPUT
from kgroups.datasets import Dataset
from kgroups.datasets.named import is_known_network, named_graph
from kgroups.errors import InputError, PartitionError
from kgroups.graph import Graph
from kgroups.partition import Levels, Partition

GRAPH_SUFFIXES = (".gml", ".graphml")
_PLOT_SUFFIXES = (".png", ".svg", ".pdf")
# Characters that XML 1.0 cannot contain.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Source:
    """A graph with the name that the user gave, and the known network that it is, if any."""

    name: str
    graph: Graph
    dataset: Dataset | None

    def describe(self) -> dict[str, Any]:
        """Return the size of the graph."""
        graph = self.graph
        return {
            "name": self.name,
            "nodes": graph.n,
            "edges": graph.m,
            "weighted": graph.is_weighted,
            "self_loops": graph.n_loops,
        }


def open_graph(args: argparse.Namespace) -> Source:
    """Load a known network, or read a file."""
    columns = {"weight": args.weight, "source": args.source, "target": args.target}
    if is_known_network(args.graph):
        graph, dataset = named_graph(args.graph, **columns, symmetrize=args.symmetrize)
        return Source(args.graph, graph, dataset)
    graph = read_graph(
        args.graph, **columns, symmetrize=args.symmetrize, max_expansion=args.max_expansion
    )
    name = "standard input" if args.graph == STANDARD_INPUT else args.graph
    return Source(name, graph, None)


def graph_files(args: argparse.Namespace) -> list[str | Path]:
    """Return the files that :func:`open_graph` reads."""
    known = {entry.name: entry.paths for entry in datasets.describe()}
    return list(known.get(args.graph, [args.graph]))


def open_partition(path: str, graph: Graph) -> Partition:
    """Read a partition, with the node names of the graph where only their type differs."""
    if not Path(path).exists():
        msg = f"there is no file {path!r} to read a partition from."
        raise InputError(msg)
    partition = Partition.load(path)
    as_text: dict[str, Hashable] = {str(node): node for node in graph.nodes}
    if set(partition.nodes) == set(graph.nodes) or len(as_text) < graph.n:
        return partition
    names = [as_text.get(str(node), node) for node in partition.nodes]
    return Partition(
        partition.labels,
        names,
        confidence=partition.known_confidence,
        stability=partition.known_stability,
    )


def check_plot(path: str | None) -> None:
    """Raise if a plot could not be drawn: another suffix, or no matplotlib."""
    if path is None:
        return
    if Path(path).suffix.lower() not in _PLOT_SUFFIXES:
        msg = f"the name of a plot must end in {', '.join(_PLOT_SUFFIXES)}; got {path!r}."
        raise InputError(msg)
    from kgroups.plotting.style import require_matplotlib

    require_matplotlib()


def save_figure(figure: Any, path: str) -> None:
    """Write a figure whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=Path(path).suffix[1:].lower(), dpi=150)
    write_atomically(path, content.getvalue())


def check_files(*paths: str | None, read: Iterable[str | Path] = ()) -> None:
    """Raise if a file to be written is a folder, has no folder, is read, or is written twice.

    ``None`` stands for no file. Links to a file that is read are refused like the file itself.
    """
    sources = [Path(path) for path in read]
    named: list[Path] = []
    for path in paths:
        if path is None:
            continue
        place = Path(path).resolve()
        check_writable(path)
        for source in sources:
            if same_file(place, source):
                also = "" if path == str(source) else f" (as {str(source)!r})"
                msg = (
                    f"no result can be written to {path!r}: this file is read{also}, and would be "
                    "destroyed.\n  Name another file."
                )
                raise InputError(msg)
        if any(same_file(place, other) for other in named):
            msg = f"two files of one name would overwrite each other, got {path!r} twice."
            raise InputError(msg)
        named.append(place)


def same_file(place: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, also through links and before it exists."""
    try:
        return place.samefile(other)
    except OSError:
        return place.resolve() == other.resolve()


def is_graph_file(path: str) -> bool:
    """Tell whether the suffix of a file is that of a graph with its communities."""
    return Path(path).suffix.lower() in GRAPH_SUFFIXES


def check_graph_names(path: str, nodes: Sequence[Hashable]) -> None:
    """Raise if a graph file cannot hold these names, or two of them would become equal."""
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
            msg = f"a .graphml file cannot hold the node name {text!r}.\n  Write a .gml file."
            raise PartitionError(msg)


def write_graph(
    path: str, graph: Graph, partition: Partition, levels: Levels | None = None
) -> None:
    """Write the graph, whole or not at all, with the node attribute ``community``.

    If confidence was computed, ``confidence`` and ``runner_up`` are attributes, too, and so is
    ``stability``; each of the levels is one under its name. Weights, if the graph has any, become
    the edge attribute ``weight``.
    """
    import networkx as nx

    annotated = graph.to_networkx()
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
    if Path(path).suffix.lower() == ".gml":
        content = ("\n".join(nx.generate_gml(annotated)) + "\n").encode("ascii")
    else:
        sink = io.BytesIO()
        nx.write_graphml_xml(annotated, sink)
        content = sink.getvalue()
    write_atomically(path, content)
