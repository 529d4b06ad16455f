"""The graph and the partition that the arguments of a command name."""

import argparse
import difflib
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgroups import datasets
from kgroups.adapters import as_graph, read_graph
from kgroups.datasets import Dataset
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.partition import Partition

__all__ = ["Source", "graph_files", "open_graph", "open_partition"]


@dataclass(frozen=True)
class Source:
    """A graph with the name it was asked for by, and what is known about it."""

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
    if args.graph not in datasets.names():
        if not Path(args.graph).exists():
            raise InputError(_absent_message(args.graph))
        graph = read_graph(
            args.graph,
            weight=args.weight,
            source=args.source,
            target=args.target,
            symmetrize=args.symmetrize,
            max_expansion=args.max_expansion,
        )
        return Source(args.graph, graph, None)
    if args.weight not in (None, "weight"):
        msg = (
            f"the weights of a known network are called 'weight', got --weight {args.weight}.\n"
            "  Leave --weight out, or pass --no-weight."
        )
        raise InputError(msg)
    if (args.source, args.target) != (None, None):
        msg = (
            f"--source and --target name the columns of a file, got the known network {args.graph}."
            "\n  Leave them out."
        )
        raise InputError(msg)
    dataset = datasets.load(args.graph, symmetrize=args.symmetrize)
    return Source(args.graph, as_graph(dataset.graph, weight=args.weight), dataset)


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
    return Partition(partition.labels, names)


def _absent_message(name: str) -> str:
    if name in datasets.table_names():
        return (
            f"GRAPH must be a file or a known network, got {name!r}, which is a known table.\n"
            f"  A table has no edges: build a graph from kgroups.datasets.load_table({name!r}), "
            "write it to a file and pass the file."
        )
    close = difflib.get_close_matches(name, datasets.names(), n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return (
        f"GRAPH must be a file or a known network, got {name!r}, which is neither.{guess}\n"
        "  `kgroups datasets` lists the known networks."
    )
