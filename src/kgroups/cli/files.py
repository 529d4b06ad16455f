"""Files of the command line: graphs and partitions that are read, and files that are written."""

import argparse
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgroups import datasets
from kgroups._output import check_writable, require_matplotlib, write_atomically
from kgroups._wording import listed
from kgroups.adapters import read_graph
from kgroups.adapters.files import STANDARD_INPUT
from kgroups.datasets import Dataset, is_known_network, named_graph
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.partition import Partition

_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


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


def one_graph(args: argparse.Namespace) -> str:
    """Return the only graph that is named, or raise."""
    if args.store is not None:
        msg = (
            f"--store keeps the blocks of a graph that is searched with --memory, got --store "
            f"{args.store} without.\n  Add --memory 2GB, or leave --store out."
        )
        raise InputError(msg)
    if len(args.graph) > 1:
        msg = (
            f"several files are read with --memory alone, got {len(args.graph)}: "
            f"{listed(args.graph, 3)}.\n  Add --memory 2GB, or name one file."
        )
        raise InputError(msg)
    return str(args.graph[0])


def graph_files(args: argparse.Namespace) -> list[str | Path]:
    """Return the files that :func:`open_graph` reads."""
    known = {entry.name: entry.paths for entry in datasets.describe()}
    return list(known.get(args.graph, [args.graph]))


def open_partition(args: argparse.Namespace, graph: Graph) -> Partition:
    """Read the partition of a graph."""
    if not Path(args.partition).exists():
        msg = f"there is no file {args.partition!r} to read a partition from."
        raise InputError(msg)
    return Partition.load(args.partition, graph=graph, max_expansion=args.max_expansion)


def check_plot(path: str | None) -> None:
    """Raise if a plot could not be drawn: another suffix, or no matplotlib."""
    if path is None:
        return
    if Path(path).suffix.lower() not in _PLOT_SUFFIXES:
        msg = f"the name of a plot must end in {', '.join(_PLOT_SUFFIXES)}; got {path!r}."
        raise InputError(msg)
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
    """Return whether two paths lead to one file, also through links and before it exists."""
    try:
        return place.samefile(other)
    except OSError:
        return place.resolve() == other.resolve()
