"""One function per command: call the library, hand the result to a printer."""

import argparse
import io
import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kgroups import datasets
from kgroups._partition_io import check_names, check_suffix, write_atomically
from kgroups._progress import stage_progress
from kgroups.cli import views
from kgroups.cli.graph_files import (
    GRAPH_SUFFIXES,
    check_graph_names,
    is_graph_file,
    write_graph,
)
from kgroups.cli.sources import Source, graph_files, open_graph, open_partition
from kgroups.cli.targets import check_files, check_picture
from kgroups.errors import InputError
from kgroups.partition import Partition

__all__ = ["detect", "info", "list_datasets", "score", "warm"]

_UNLABELLED = -1


def detect(args: argparse.Namespace) -> None:
    """Find communities, print them, and write what was asked for."""
    from kgroups.detect import detect_communities
    from kgroups.search import EXACT_NODES

    _check_targets(args)
    with stage_progress() as begin:
        begin("reading the graph")
        source = open_graph(args)
        if args.output is not None:
            check = check_graph_names if is_graph_file(args.output) else check_names
            check(args.output, source.graph.nodes)
        if args.json:
            _check_json_names(source.graph.nodes)
        partition = detect_communities(
            source.graph,
            args.k,
            self_loops=args.self_loops,
            rng=args.rng,
            progress=begin,
        )
        # Cheap on small graphs only; kgroups info computes it on all.
        spectrum = partition.spectrum if partition.labels.size <= EXACT_NODES else None
        begin("scoring")
        scores = partition.scores()
        agreement = _agreement(source, partition)
        if args.output is not None:
            begin(f"writing {args.output}")
            if is_graph_file(args.output):
                write_graph(args.output, source.graph, partition)
            else:
                partition.save(args.output)
        if args.plot is not None:
            begin(f"drawing {args.plot}")
            _draw(partition, source, args.plot)
    if not args.json:
        print(views.detection(source, partition, scores, agreement))
        for path in (args.output, args.plot):
            if path is not None:
                print(f"wrote {path}")
        return
    _print_json(
        {
            "graph": source.describe(),
            "k": partition.k,
            "sizes": partition.sizes.tolist(),
            "nodes": list(partition.nodes),
            "labels": partition.labels.tolist(),
            "uninformed": list(partition.uninformed),
            "scores": scores.to_dict(),
            "agreement": agreement,
            "spectrum": None if spectrum is None else spectrum.to_dict(),
            "report": None if partition.report is None else partition.report.to_dict(),
            "output": args.output,
            "plot": args.plot,
        }
    )


def score(args: argparse.Namespace) -> None:
    """Score a partition from a file."""
    from kgroups.scoring import scores

    with stage_progress() as begin:
        begin("reading the graph")
        source = open_graph(args)
        partition = open_partition(args.partition, source.graph)
        begin("scoring")
        result = scores(source.graph, partition, resolution=args.resolution)
        agreement = _agreement(source, partition)
    if args.json:
        document = {"graph": source.describe(), "partition": args.partition}
        _print_json({**document, "scores": result.to_dict(), "agreement": agreement})
    else:
        print(views.scoring(source, args.partition, result, agreement))


def info(args: argparse.Namespace) -> None:
    """Describe a graph and what its spectrum shows."""
    from kgroups.spectrum import connected_components, estimate_k

    with stage_progress() as begin:
        begin("reading the graph")
        source = open_graph(args)
        graph = source.graph
        adjacency = graph.simple_adjacency()
        links = np.diff(adjacency.indptr)
        count, component = connected_components(adjacency)
        begin("counting communities")
        spectrum = estimate_k(graph, self_loops=args.self_loops)
    shape = {
        **source.describe(),
        "mean_degree": float(links.mean()) if graph.n else 0.0,
        "max_degree": int(links.max(initial=0)),
        "components": int(count),
        "largest_component": int(np.bincount(component).max(initial=0)),
        "isolated_nodes": int(np.count_nonzero(links == 0)),
    }
    if args.json:
        _print_json({"graph": shape, "spectrum": spectrum.to_dict()})
    else:
        print(views.description(source, shape, spectrum))


def list_datasets(args: argparse.Namespace) -> None:
    """List the known networks and tables."""
    known, tables = datasets.describe(), datasets.describe_tables()
    folders = [str(folder) for folder in datasets.data_folders()]
    if not args.json:
        print(views.catalogue(known, tables, folders))
        return
    listed_networks = [
        {
            **_listed(entry),
            "nodes": entry.nodes,
            "edges": entry.edges,
            "directed": entry.directed,
            "weighted": entry.weighted,
            "labels": list(entry.label_files),
            "truth": entry.truth,
        }
        for entry in known
    ]
    listed_tables = [
        {
            **_listed(entry),
            "rows": entry.rows,
            "columns": entry.columns,
            "classes": entry.classes,
            "missing": entry.missing,
        }
        for entry in tables
    ]
    _print_json({"networks": listed_networks, "tables": listed_tables, "folders": folders})


def _listed(entry: datasets.DatasetInfo | datasets.TableInfo) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "bundled": entry.bundled,
        "present": entry.present,
        "citation": entry.citation,
        "archive": entry.archive,
        "origin": entry.origin,
        "licence": entry.licence,
        "note": entry.note,
        "files": {data_file.file: data_file.sha256 for data_file in entry.files},
    }


def warm(args: argparse.Namespace) -> None:
    """Compile every kernel."""
    from kgroups import detect as pipeline
    from kgroups.backends.networkx import propagation

    start = perf_counter()
    with stage_progress() as begin:
        begin("compiling")
        pipeline.warm()
        propagation.compile_kernels()
    seconds = perf_counter() - start
    if args.json:
        _print_json({"seconds": seconds})
    else:
        print(f"everything is compiled ({seconds:.1f} s)")


def _check_targets(args: argparse.Namespace) -> None:
    if args.output is not None and not is_graph_file(args.output):
        try:
            check_suffix(args.output)
        except InputError as error:
            msg = f"{error}\n  With {' or '.join(GRAPH_SUFFIXES)} the graph is written, too."
            raise InputError(msg) from None
    check_picture(args.plot)
    check_files(args.output, args.plot, read=graph_files(args))


def _check_json_names(nodes: Sequence[Hashable]) -> None:
    """Refuse names that JSON does not have, before there are communities to lose."""
    if isinstance(nodes, range):
        return
    for node in nodes:
        if type(node) in (int, str):
            continue
        try:
            json.dumps(node, allow_nan=False)
        except (TypeError, ValueError):
            msg = (
                "node names in a JSON document must be text, finite numbers, true, false or null, "
                f"got {node!r} of type {type(node).__name__}.\n"
                "  Store the names as text, or leave out --json."
            )
            raise InputError(msg) from None


def _draw(partition: Partition, source: Source, path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 5.4), layout="constrained")
    title = f"{source.name}: {views.counted(partition.k, 'community', 'communities')}"
    partition.plot(figure.subplots(), title=title)
    content = io.BytesIO()
    figure.savefig(content, format=Path(path).suffix[1:].lower(), dpi=150)
    write_atomically(path, content.getvalue())


def _agreement(source: Source, partition: Partition) -> dict[str, dict[str, float]]:
    """Compare with the labels that come with a known network."""
    from kgroups import metrics

    if source.dataset is None or source.dataset.truth is None:
        return {}
    found = np.array([partition.membership[node] for node in source.graph.nodes])
    compared = {}
    for name, truth in source.dataset.labels.items():
        labelled = truth != _UNLABELLED if truth.dtype.kind == "i" else np.ones(truth.size, bool)
        compared[name] = {
            "overlap": float(metrics.overlap(truth[labelled], found[labelled])),
            "ami": float(metrics.ami(truth[labelled], found[labelled])),
        }
    return compared


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=2, allow_nan=False))
