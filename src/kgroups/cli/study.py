"""``kgroups study`` and ``kgroups study merge``."""

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._progress import is_terminal
from kgroups.cli.files import check_files, check_plot, save_figure
from kgroups.cli.views import print_json, table
from kgroups.errors import InputError
from kgroups.metrics import METRIC_NAMES

if TYPE_CHECKING:
    from kgroups.studies import Study

# Bytes that leave room for the ending of a journal: most systems allow 255.
_LONGEST_NAME = 240
_NEEDED = ("n", "k", "degree", "snr")
# Named here because importing them takes a second, which `kgroups --help` should not.
METHODS = (
    "kgroups, kgroups-auto, kgroups-paper, kgroups-paper-uniform, bethe-hessian, "
    "bethe-hessian-raw, bp, bp-oracle, spectral-adjacency, leiden, leiden-converged, louvain, "
    "infomap"
)
CHOOSING_K = (
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
        help=f"from {METHODS}; these choose k themselves: {CHOOSING_K}; the others are given it "
        "(default: kgroups,bethe-hessian)",
    )
    study.add_argument(
        "--metrics",
        default="overlap,nmi,ami",
        metavar="NAMES",
        help=f"scores to record, from {', '.join(METRIC_NAMES)}; the first is printed and drawn, "
        "or ami if a method chooses k (default: overlap,nmi,ami)",
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
        help="where finished trials are kept, to resume after an interruption "
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
    """Run a phase-transition study, print its means, and write the files that were named."""
    from kgroups.studies import phase_transition

    is_temporary = args.journal is None and args.output is not None
    journal = journal_beside(args.output) if is_temporary else args.journal
    _check_targets(args, journal)
    missing = [name for name in _NEEDED if getattr(args, name) is None]
    if missing:
        msg = (
            f"kgroups study needs --{', --'.join(_NEEDED)}; --{missing[0]} is missing.\n"
            "  For instance: kgroups study --n 1000 --k 2 --degree 3 --snr 0.5:1.7:7"
        )
        raise InputError(msg)
    shard = None
    if args.shard is not None:
        try:
            part, parts = (int(number) for number in args.shard.split("/"))
        except ValueError:
            msg = f"--shard must be I/N such as 1/4, got {args.shard!r}."
            raise InputError(msg) from None
        if args.journal is None:
            msg = "--shard needs --journal FILE, one per shard, for `kgroups study merge` to read."
            raise InputError(msg)
        shard = part, parts
    degrees, ratios = parse_numbers("degree", args.degree), parse_numbers("snr", args.snr)
    if args.beyond == "clip" and any(d >= 0 and s * s > d for d in degrees for s in ratios):
        print(_CLIPPED, file=sys.stderr)
    try:
        study = phase_transition(
            parse_numbers("n", args.n, whole=True),
            parse_numbers("k", args.k, whole=True),
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
            progress=not args.quiet and (is_terminal() or TimeEstimate(args.jobs)),
        )
    except KeyboardInterrupt:
        if journal is not None:
            print(f"interrupted; the same command resumes from {journal}", file=sys.stderr)
        raise
    _deliver(study, args)
    if is_temporary:
        Path(journal).unlink()


def journal_beside(output: str) -> str:
    """Return the name of the journal of a table, which is not longer than systems allow."""
    name = Path(output).name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    return str(Path(output).with_name(f"{name}.journal"))


def merge_shards(args: argparse.Namespace) -> None:
    """Merge shards, print the means, and write the files that were named."""
    from kgroups.studies import merge

    _check_targets(args, read=args.journals)
    _deliver(merge(args.journals), args)


def _means_table(study: "Study", metric: str) -> str:
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
    """Return the values of a parameter with as few digits as make them differ."""
    for digits in (4, 8, 17):
        texts = [f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def _deliver(study: "Study", args: argparse.Namespace) -> None:
    if args.output is not None:
        study.save(args.output)
    if args.plot is not None:
        from kgroups.studies import plot_study

        save_figure(plot_study(study, pyplot=False).figure, args.plot)
    if args.json:
        lines = [
            {name: None if value != value else value for name, value in line.items()}
            for line in study.summary()
        ]
        document = {"summary": lines, "rows": len(study), "output": args.output, "plot": args.plot}
        print_json(document)
        return
    trials = max((row["trial"] for row in study.rows), default=-1) + 1
    metric = study.default_metric
    print(f"mean {metric} ± standard error, {trials} graphs per line")
    print(f"k given to: {', '.join(study.methods_given_k) or 'no method'}\n")
    print(_means_table(study, metric))
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
        from kgroups.studies import check_table_name

        check_table_name(args.output)
    check_plot(args.plot)
    check_files(args.output, args.plot, journal, read=read)


def parse_numbers(name: str, text: str, *, whole: bool = False) -> list[Any]:
    """Return the numbers of ``1,2,3`` or of ``from:to:count``."""
    try:
        if ":" in text:
            low, high, count = text.split(":")
            # Twelve digits give exactly 1.2 for 1.2, so the cell equals one that was typed.
            values = [float(f"{v:.12g}") for v in np.linspace(float(low), float(high), int(count))]
        else:
            values = [float(part) for part in text.split(",")]
    except ValueError:
        msg = (
            f"--{name} must be numbers such as 2,5,15 or 0.5:2.5:20 (from:to:count), got {text!r}."
        )
        raise InputError(msg) from None
    for value in values if whole else ():
        if not value.is_integer():
            msg = f"--{name} must be whole numbers, got {value:g}."
            raise InputError(msg)
    return [int(value) for value in values] if whole else values


class TimeEstimate:
    """Print on stderr how many trials an earlier run has finished, and once the time left.

    Each process reports once before the clock starts, because the first trials may wait for
    kernels to compile. The line is printed when each has reported once more and ``seconds`` have
    passed. Negative ``jobs`` are all cores.
    """

    def __init__(
        self, jobs: int, *, seconds: float = 5.0, clock: Callable[[], float] = monotonic
    ) -> None:
        self._seconds, self._clock = seconds, clock
        self._workers = jobs if jobs > 0 else os.cpu_count() or 1
        self._reports = -1
        self._start = (0.0, 0)
        self._is_printed = False

    def __call__(self, done: int, total: int) -> None:
        """Take the number of trials done; the first call has those of an earlier run."""
        self._reports += 1
        if self._reports == 0 and done > 0:
            print(f"{done} of {total} trials were done before", file=sys.stderr, flush=True)
        if self._reports == self._workers:
            self._start = (self._clock(), done)
        if self._is_printed or self._reports < 2 * self._workers or done == total:
            return
        seconds = self._clock() - self._start[0]
        if seconds >= self._seconds:
            self._is_printed = True
            left = seconds / (done - self._start[1]) * (total - done)
            line = f"{done} of {total} trials are done, about {shown_duration(left)} to go"
            print(line, file=sys.stderr, flush=True)


def shown_duration(seconds: float) -> str:
    """Return a duration in the unit that gives it one or two digits before the point."""
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{max(seconds, 1):.2g} seconds"
