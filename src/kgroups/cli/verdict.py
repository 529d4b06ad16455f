"""``kgroups verdict``: whether a graph has more structure than random graphs with its degrees."""

import argparse
from typing import TYPE_CHECKING

from kgroups.cli import views
from kgroups.cli.files import Source, open_graph, open_partition

if TYPE_CHECKING:
    from kgroups.uncertainty import Significance


def add_arguments(parser: argparse.ArgumentParser, *, partition: str) -> None:
    """Add the flags of the command; ``partition`` describes a partition file."""
    parser.add_argument(
        "--nulls",
        type=int,
        metavar="N",
        help="number of random graphs to compare with (default: 99 up to 5,000 nodes and 100,000 "
        "edges; on larger graphs, or with 0, the moments of the spectrum decide)",
    )
    parser.add_argument(
        "--partition",
        metavar="FILE",
        help=f"compare distances with those of these communities: {partition} (default: detect)",
    )
    parser.add_argument(
        "--rng", type=int, metavar="N", help="seed of the random graphs; fixed if absent"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; -1: all cores")


def judge(args: argparse.Namespace) -> None:
    """Print the verdict on a graph."""
    from kgroups.uncertainty import significance

    source = open_graph(args)
    communities = None if args.partition is None else open_partition(args, source.graph)
    verdict = significance(
        source.graph,
        nulls=args.nulls,
        rng=args.rng,
        n_jobs=args.jobs,
        progress=True,
        partition=communities,
    )
    if args.json:
        views.print_json({"graph": source.describe(), "verdict": verdict.to_dict()})
    else:
        print(_text(source, verdict))


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
    for name, value in (("signal-to-noise ratio", verdict.snr), ("stretch", verdict.stretch)):
        if value is not None:
            figures.append((name, views.number(value)))
    sentences = "\n".join(map(views.wrapped, verdict.lines()))
    parts = [views.headline(source), f"Verdict\n{sentences}"]
    return "\n\n".join([*parts, *([f"Figures\n{views.facts(figures)}"] if figures else [])])
