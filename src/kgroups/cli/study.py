"""``kgroups study`` and ``kgroups study merge``."""

import argparse
import io
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._partition_io import write_atomically
from kgroups.cli.pace import study_progress
from kgroups.cli.tables import table
from kgroups.cli.targets import check_files, check_picture
from kgroups.errors import InputError

if TYPE_CHECKING:
    from kgroups.studies import Study

__all__ = ["means_table", "merge_shards", "register", "run_study", "save_figure"]

_NEEDED = ("n", "k", "degree", "snr")
_METHODS = (
    "kgroups, kgroups-auto, kgroups-paper, kgroups-paper-uniform, bethe-hessian, "
    "bethe-hessian-raw, spectral-adjacency, leiden, leiden-converged, louvain, infomap"
)
_CHOOSING_K = (
    "kgroups-auto, leiden (2 iterations), leiden-converged (while iterations raise modularity), "
    "louvain, infomap (1 trial)"
)

_CLIPPED = (
    "where snr exceeds the root of the degree there are no edges between groups, and the mean "
    "degree grows; --beyond error refuses such values"
)


def register(commands_of: Any) -> None:
    """Add the command to the parser."""
    study = commands_of.add_parser(
        "study",
        help="draw many graphs with planted groups and see how well methods find them",
        description="A row per graph and method. Several values: 2,5,15 or from:to:count.",
    )
    study.set_defaults(run=run_study)
    for name, what in (
        ("n", "nodes"),
        ("k", "planted groups"),
        ("degree", "mean degree"),
        ("snr", "signal-to-noise ratio; 1 is the threshold of detection"),
    ):
        study.add_argument(f"--{name}", metavar="VALUES", help=what)
    study.add_argument("--trials", type=int, default=10, metavar="N", help="per cell (default: 10)")
    study.add_argument(
        "--methods",
        default="kgroups,bethe-hessian",
        metavar="NAMES",
        help=f"from {_METHODS}; these choose k themselves: {_CHOOSING_K}; the others are given it "
        "(default: kgroups,bethe-hessian)",
    )
    study.add_argument(
        "--metrics",
        default="overlap,nmi,ami",
        metavar="NAMES",
        help="scores to record; the first is printed and drawn, or ami if a method chooses k "
        "(default: overlap,nmi,ami)",
    )
    study.add_argument(
        "--sizes", choices=["balanced", "multinomial"], default="balanced", help="of the groups"
    )
    study.add_argument(
        "--beyond",
        choices=["error", "clip"],
        default="clip",
        help="where snr exceeds the root of the degree: refuse, or no edges between groups "
        "(default: clip)",
    )
    study.add_argument("--rng", type=int, default=0, metavar="N", help="seed of all (default: 0)")
    study.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; -1: all cores")
    study.add_argument(
        "--journal",
        metavar="FILE",
        help="where finished trials are kept, to go on from after an interruption "
        "(default: beside --output, until that is written)",
    )
    study.add_argument("--shard", metavar="I/N", help="run the I-th of N parts; needs --journal")
    study.add_argument("--quiet", action="store_true", help="show no progress on stderr")
    _add_targets(study)
    parts = study.add_subparsers(title="parts", metavar="", required=False)
    merged = parts.add_parser("merge", help="put the journals of all shards together")
    merged.set_defaults(run=merge_shards)
    merged.add_argument("journals", nargs="+", metavar="JOURNAL")
    _add_targets(merged)


def run_study(args: argparse.Namespace) -> None:
    """Run a phase-transition study, print its means, write what was asked for."""
    from kgroups.studies import phase_transition

    passing = args.journal is None and args.output is not None
    journal = f"{args.output}.journal" if passing else args.journal
    _check_targets(args, journal)
    missing = [name for name in _NEEDED if getattr(args, name) is None]
    if missing:
        msg = (
            f"kgroups study needs --{', --'.join(_NEEDED)}; --{missing[0]} is missing.\n"
            "  For instance: kgroups study --n 1000 --k 2 --degree 3 --snr 0.5:1.7:7"
        )
        raise InputError(msg)
    shard = None if args.shard is None else _parsed_shard(args.shard)
    if shard is not None and args.journal is None:
        msg = "--shard needs --journal FILE, one per shard, from which `kgroups study merge` reads."
        raise InputError(msg)
    degrees, ratios = _numbers("degree", args.degree), _numbers("snr", args.snr)
    if args.beyond == "clip" and any(d >= 0 and s * s > d for d in degrees for s in ratios):
        print(_CLIPPED, file=sys.stderr)
    try:
        study = phase_transition(
            _whole_numbers("n", args.n),
            _whole_numbers("k", args.k),
            degrees,
            ratios,
            args.methods.split(","),
            args.trials,
            metrics=args.metrics.split(","),
            sizes=args.sizes,
            beyond=args.beyond,
            rng=args.rng,
            n_jobs=args.jobs,
            journal=journal,
            shard=shard,
            progress=None if args.quiet else study_progress(args.jobs),
        )
    except KeyboardInterrupt:
        if journal is not None:
            print(f"interrupted; the same command goes on from {journal}", file=sys.stderr)
        raise
    _deliver(study, args)
    if passing:
        Path(journal).unlink()


def merge_shards(args: argparse.Namespace) -> None:
    """Put shards together, print the means, write what was asked for."""
    from kgroups.studies import merge

    _check_targets(args, read=args.journals)
    _deliver(merge(args.journals), args)


def means_table(study: "Study", metric: str) -> str:
    """Return a line per cell with the mean and its standard error for each method."""
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    for line in study.summary():
        if line["metric"] == metric:
            spread = "" if math.isnan(line["se"]) else f" ± {line['se']:.3f}"
            cell = tuple(line[name] for name in study.parameters)
            cells.setdefault(cell, {})[line["method"]] = f"{line['mean']:.3f}{spread}"
    shown = zip(*(_shown(values) for values in zip(*cells, strict=True)), strict=True)
    rows = [
        (*cell, *(found[name] for name in study.methods))
        for cell, found in zip(shown, cells.values(), strict=True)
    ]
    header = (*study.parameters, *study.methods)
    return table(header, rows, align="r" * len(header))


def _shown(values: Sequence[Any]) -> list[str]:
    """Return the values of a parameter with as few digits as tell them apart."""
    for digits in (4, 8, 17):
        texts = [f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=Path(path).suffix[1:].lower(), dpi=150)
    write_atomically(path, content.getvalue())


def _deliver(study: "Study", args: argparse.Namespace) -> None:
    if args.output is not None:
        study.save(args.output)
    if args.plot is not None:
        from kgroups.studies.figure import study_figure

        save_figure(study_figure(study), args.plot)
    if args.json:
        lines = [
            {name: None if value != value else value for name, value in line.items()}
            for line in study.summary()
        ]
        document = {"summary": lines, "rows": len(study), "output": args.output, "plot": args.plot}
        print(json.dumps(document, indent=2, allow_nan=False))
        return
    trials = max((row["trial"] for row in study.rows), default=-1) + 1
    metric = study.default_metric
    print(f"mean {metric} ± standard error, {trials} graphs per line")
    print(f"k given to: {', '.join(study.methods_given_k) or 'no method'}\n")
    print(means_table(study, metric))
    for path in (args.output, args.plot):
        if path is not None:
            print(f"wrote {path}")


def _add_targets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FILE", help="write all rows: .csv, .csv.gz, .parquet")
    parser.add_argument("--plot", metavar="FILE", help="draw the means: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def _check_targets(
    args: argparse.Namespace, journal: str | None = None, read: Sequence[str] = ()
) -> None:
    if args.output is not None:
        from kgroups.studies.files import check_table_name

        check_table_name(args.output)
    check_picture(args.plot)
    check_files(args.output, args.plot, journal, read=read)


def _numbers(name: str, text: str) -> list[float]:
    """Return the numbers of ``1,2,3`` or of ``from:to:count``."""
    try:
        if ":" in text:
            low, high, count = text.split(":")
            # Twelve digits write 1.2 as 1.2, so that the cell is that of someone who types it.
            return [float(f"{v:.12g}") for v in np.linspace(float(low), float(high), int(count))]
        return [float(part) for part in text.split(",")]
    except ValueError:
        msg = (
            f"--{name} must be numbers such as 2,5,15 or 0.5:2.5:20 (from:to:count), got {text!r}."
        )
        raise InputError(msg) from None


def _whole_numbers(name: str, text: str) -> list[int]:
    values = _numbers(name, text)
    for value in values:
        if not value.is_integer():
            msg = f"--{name} must be whole numbers, got {value:g}."
            raise InputError(msg)
    return [int(value) for value in values]


def _parsed_shard(text: str) -> tuple[int, int]:
    try:
        part, parts = (int(number) for number in text.split("/"))
    except ValueError:
        msg = f"--shard must be I/N such as 1/4, got {text!r}."
        raise InputError(msg) from None
    return part, parts
