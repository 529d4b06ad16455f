"""The command ``kgroups detect --memory``: communities of a graph that need not fit in memory."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import kgroups as kg
from kgroups._progress import stage_progress
from kgroups.adapters import MAX_EXPANSION
from kgroups.adapters.files import STANDARD_INPUT
from kgroups.blocks import check_table, memory_bytes, source_files
from kgroups.cli import views
from kgroups.cli.files import check_files
from kgroups.errors import InputError

# Flags that need the graph in memory, with the value of each that asks for nothing.
_IN_MEMORY_ONLY = {
    "symmetrize": None,
    "self_loops": "drop",
    "max_expansion": MAX_EXPANSION,
    "confidence": False,
    "stability": False,
    "k_distribution": False,
    "levels": False,
    "plot": None,
    "html": None,
    "html_details": "auto",
}


def detect_in_blocks(args: argparse.Namespace) -> None:
    """Make a store of files with edges, find its communities, print and write them."""
    _check_flags(args)
    memory = memory_bytes(args.memory)
    if args.output is not None:
        check_table(args.output)
    files = source_files(args.graph)
    check_files(args.output, read=files)
    with stage_progress() as begin, _store_folder(args) as folder:
        columns = {"weight": args.weight, "source": args.source, "target": args.target}
        graph = kg.open_graph(files, store=folder, **columns, memory=memory, progress=begin)
        partition = kg.detect_communities(graph, args.k, rng=args.rng, progress=begin)
        begin("scoring")
        scores = partition.scores()
        if args.output is not None:
            begin(f"writing {args.output}")
            partition.save(args.output)
        about = {
            "files": list(map(str, files)),
            "nodes": graph.n,
            "edges": graph.m,
            "weighted": graph.weighted,
            "self_loops": graph.n_loops,
        }
    if not args.json:
        print(views.stored_detection(about, partition, scores))
        if args.output is not None:
            print(f"wrote {args.output}")
        return
    report = partition.report
    views.print_json(
        {
            "graph": about,
            "k": partition.k,
            "sizes": partition.sizes.tolist(),
            "scores": scores.to_dict(),
            "report": None if report is None else report.to_dict(),
            "output": args.output,
        }
    )


def _check_flags(args: argparse.Namespace) -> None:
    """Raise if a flag needs the graph in memory."""
    for name, default in _IN_MEMORY_ONLY.items():
        if getattr(args, name) != default:
            flag = f"--{name.replace('_', '-')}"
            msg = (
                f"{flag} needs the whole graph in memory, got it with --memory {args.memory}.\n"
                f"  Leave out {flag}, or --memory if the graph fits."
            )
            raise InputError(msg)
    known = kg.datasets.names()
    for name in args.graph:
        if name == STANDARD_INPUT or (name in known and not Path(name).exists()):
            what = "standard input" if name == STANDARD_INPUT else f"the network {name!r}"
            msg = f"--memory is for files with edges, got {what}.\n  Leave out --memory."
            raise InputError(msg)


@contextmanager
def _store_folder(args: argparse.Namespace) -> Iterator[Path]:
    """Yield the folder for the store, which is removed at the end unless it was named."""
    if args.store is not None:
        yield Path(args.store)
        return
    beside = None if args.output is None else Path(args.output).resolve().parent
    with TemporaryDirectory(prefix=".kgroups-", dir=beside) as folder:
        yield Path(folder, "store")
