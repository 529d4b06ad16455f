"""One function per command: call the library and print the result."""

import argparse
import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import kgroups as kg
from kgroups._csr import connected_components
from kgroups._output import check_page
from kgroups._progress import stage_progress
from kgroups._wording import counted_communities
from kgroups.cli import views
from kgroups.cli.files import (
    Source,
    check_files,
    check_plot,
    graph_files,
    one_graph,
    open_graph,
    open_partition,
    save_figure,
)
from kgroups.cli.parser import DETAILS
from kgroups.datasets import DatasetInfo, TableInfo
from kgroups.errors import InputError
from kgroups.partition import Partition
from kgroups.partition.files import check_names, check_suffix

if TYPE_CHECKING:
    from kgroups.uncertainty import Significance

_UNLABELED = -1


def detect(args: argparse.Namespace) -> None:
    """Find communities, print them, and write the files that were named."""
    if args.memory is not None:
        # What works on blocks takes time to import.
        from kgroups.cli.stored import detect_in_blocks

        detect_in_blocks(args)
        return
    args.graph = one_graph(args)
    if args.output is not None:
        check_suffix(args.output)
    check_plot(args.plot)
    if args.html is not None:
        check_page(args.html)
    check_files(args.output, args.plot, args.html, read=graph_files(args))
    with stage_progress() as begin:
        begin("reading the graph")
        source = open_graph(args)
        if args.output is not None:
            check_names(args.output, source.graph.nodes)
        if args.json:
            _check_json_names(source.graph.nodes)
        partition = kg.detect_communities(
            source.graph,
            args.k,
            self_loops=args.self_loops,
            rng=args.rng,
            progress=begin,
        )
        # Only on small graphs, where it is cheap; `kgroups info` computes it for all.
        if partition.labels.size <= kg.Spectral.exact_nodes:
            _ = partition.spectrum
        if args.confidence:
            begin("computing confidence")
            partition.confidence(
                progress=lambda done, most: begin(
                    f"computing confidence: sweep {done} of <= {most}"
                )
            )
        if args.stability:
            begin("computing stability")
            partition.stability(
                progress=lambda done, most: begin(f"computing stability: resample {done} of {most}")
            )
        if args.k_distribution:
            partition.k_distribution(progress=begin)
        levels = partition.levels(progress=begin) if args.levels else None
        begin("scoring")
        scores = partition.scores()
        agreement = _agreement(source, partition)
        if args.output is not None:
            begin(f"writing {args.output}")
            (levels or partition).save(args.output)
        if args.plot is not None:
            begin(f"drawing {args.plot}")
            from matplotlib.figure import Figure

            figure = Figure(figsize=(7.0, 5.4), layout="constrained")
            title = f"{source.name}: {counted_communities(partition.k, partition._single)}"
            partition.plot(figure.subplots(), title=title)
            save_figure(figure, args.plot)
        if args.html is not None:
            details = DETAILS[args.html_details]
            partition.to_html(
                args.html,
                # A reader elsewhere does not know the folders of a path.
                title=views.title(replace(source, name=Path(source.name).name)),
                spectrum=details,
                confidence=details,
                levels=args.levels or details,
                uncertainty=details,
                progress=begin,
            )
    if not args.json:
        print(views.detection(source, partition, scores, agreement, levels))
        for path in (args.output, args.plot, args.html):
            if path is not None:
                print(f"wrote {path}")
        return
    spectrum, stability = partition.known_spectrum, partition.known_stability
    numbers = partition.known_k_distribution
    views.print_json(
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
            **_confidence(partition),
            **({} if numbers is None else {"k_distribution": numbers.to_dict()}),
            **({} if stability is None else {"stability": stability.to_dict()}),
            **({} if levels is None else {"levels": levels.to_list()}),
            "output": args.output,
            "plot": args.plot,
            "html": args.html,
        }
    )


def score(args: argparse.Namespace) -> None:
    """Score a partition from a file."""
    with stage_progress() as begin:
        begin("reading the graph")
        source = open_graph(args)
        partition = open_partition(args, source.graph)
        begin("scoring")
        result = kg.scoring.scores(source.graph, partition, resolution=args.resolution)
        agreement = _agreement(source, partition)
    if args.json:
        document = {"graph": source.describe(), "partition": args.partition}
        views.print_json({**document, "scores": result.to_dict(), "agreement": agreement})
    else:
        print(views.scoring(source, args.partition, partition, result, agreement))


def info(args: argparse.Namespace) -> None:
    """Describe a graph and what its spectrum shows."""
    with stage_progress() as begin:
        begin("reading the graph")
        source = open_graph(args)
        graph = source.graph
        adjacency = graph.simple_adjacency()
        links = np.diff(adjacency.indptr)
        count, component = connected_components(adjacency)
        begin("counting communities")
        spectrum = kg.estimate_k(graph, self_loops=args.self_loops)
        numbers = kg.k_distribution(graph, progress=begin) if args.k_distribution else None
    shape = {
        **source.describe(),
        "mean_degree": float(links.mean()) if graph.n else 0.0,
        "max_degree": int(links.max(initial=0)),
        "components": int(count),
        "largest_component": int(np.bincount(component).max(initial=0)),
        "isolated_nodes": int(np.count_nonzero(links == 0)),
    }
    if args.json:
        more = {} if numbers is None else {"k_distribution": numbers.to_dict()}
        views.print_json({"graph": shape, "spectrum": spectrum.to_dict(), **more})
    else:
        print(views.description(source, shape, spectrum, numbers))


def datasets(args: argparse.Namespace) -> None:
    """List the known networks and tables."""
    known, tables = kg.datasets.describe(), kg.datasets.describe_tables()
    folders = [str(folder) for folder in kg.datasets.data_folders()]
    if not args.json:
        print(views.catalog(known, tables, folders))
        return
    listed_networks = [
        {
            **_listed(entry),
            **_attributes(entry, "family", "nodes", "edges", "directed", "weighted"),
            "labels": list(entry.label_files),
            "truth": entry.truth,
        }
        for entry in known
    ]
    listed_tables = [
        {**_listed(entry), **_attributes(entry, "rows", "columns", "classes", "missing")}
        for entry in tables
    ]
    views.print_json({"networks": listed_networks, "tables": listed_tables, "folders": folders})


def _listed(entry: DatasetInfo | TableInfo) -> dict[str, Any]:
    names = ("name", "title", "bundled", "present", "citation", "archive", "origin", "license")
    files = {data_file.file: data_file.sha256 for data_file in entry.files}
    return {**_attributes(entry, *names, "note"), "files": files}


def _attributes(entry: object, *names: str) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in names}


def warm(args: argparse.Namespace) -> None:
    """Compile every kernel."""
    start = perf_counter()
    kernels = kg.warm()
    seconds = perf_counter() - start
    if args.json:
        views.print_json({"kernels": kernels, "seconds": seconds})
    elif kernels:
        print(f"all {kernels} kernels are compiled ({seconds:.1f} s)")
    else:
        print("nothing is compiled: KGROUPS_JIT=never or NUMBA_DISABLE_JIT=1 forbids it")


def _confidence(partition: Partition) -> dict[str, Any]:
    """Return the confidence of each node if it was computed."""
    known = partition.known_confidence
    if known is None:
        return {}
    return {
        "confidence": known.own.tolist(),
        "runner_up": known.runner_up.tolist(),
        "confidence_method": known.method,
        "confidence_converged": known.converged,
    }


def _check_json_names(nodes: Sequence[Hashable]) -> None:
    """Raise before the detection if JSON cannot hold the node names."""
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


def _agreement(source: Source, partition: Partition) -> dict[str, dict[str, float]]:
    """Compare with the labels that come with a known network."""
    if source.dataset is None or source.dataset.truth is None:
        return {}
    found = np.array([partition.membership[node] for node in source.graph.nodes])
    compared = {}
    for name, truth in source.dataset.labels.items():
        labeled = truth != _UNLABELED if truth.dtype.kind == "i" else np.ones(truth.size, bool)
        compared[name] = {
            "overlap": float(kg.metrics.overlap(truth[labeled], found[labeled])),
            "ami": float(kg.metrics.ami(truth[labeled], found[labeled])),
        }
    return compared


def verdict(args: argparse.Namespace) -> None:
    """Print the verdict on a graph."""
    source = open_graph(args)
    found = kg.significance(
        source.graph, nulls=args.nulls, rng=args.rng, n_jobs=args.jobs, progress=True
    )
    if args.json:
        views.print_json({"graph": source.describe(), "verdict": found.to_dict()})
    else:
        print(_text(source, found))


def _text(source: Source, verdict: "Significance") -> str:
    """Return the sentences of a verdict and its figures."""
    figures: list[tuple[str, object]] = []
    if verdict.p is not None and verdict.eigenvalue is not None:
        lowest, highest = min(verdict.null_eigenvalues), max(verdict.null_eigenvalues)
        figures += [
            ("second eigenvalue", views.number(verdict.eigenvalue)),
            (f"of {verdict.nulls} random graphs", f"{lowest:.3f} to {highest:.3f}"),
            ("p", f"{verdict.p:.3g}"),
        ]
    if verdict.signal is not None and verdict.threshold is not None:
        figures += [("signal", f"{verdict.signal:.4g}"), ("threshold", f"{verdict.threshold:.4g}")]
    if verdict.snr is not None:
        figures.append(("signal-to-noise ratio", views.number(verdict.snr)))
    sentences = "\n".join(map(views.wrapped, verdict.lines()))
    parts = [views.headline(source), f"Verdict\n{sentences}"]
    return "\n\n".join([*parts, *([f"Figures\n{views.facts(figures)}"] if figures else [])])
