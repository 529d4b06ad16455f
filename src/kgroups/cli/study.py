"""``kgroups study`` and ``kgroups study merge``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgroups.cli.files import check_files, check_plot, save_figure
from kgroups.cli.views import print_json, table
from kgroups.errors import InputError
from kgroups.studies import Study, check_table_name, merge, phase_transition, plot_study
from kgroups.studies.table import table_of_means

# Bytes that leave room for the ending of a journal: most systems allow 255.
_LONGEST_NAME = 240
_NEEDED = ("n", "k", "degree", "snr")
_CLIPPED = (
    "where snr exceeds the root of the degree there are no edges between groups, and the mean "
    "degree grows; --beyond error refuses such values"
)


def run_study(args: argparse.Namespace) -> None:
    """Run a phase-transition study, print its means, and write the files that were named."""
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
            progress=not args.quiet,
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
    _check_targets(args, read=args.journals)
    _deliver(merge(args.journals), args)


def _means_table(study: Study) -> str:
    """Return a line per cell with the mean and its standard error for each method."""
    columns = list(zip(*table_of_means(study, lambda line: line["se"]), strict=True))
    wide = len(study.parameters)
    rows = zip(*map(_shown, columns[:wide]), *columns[wide:], strict=True)
    header = (*study.parameters, *study.methods)
    return table(header, list(rows), align="r" * len(header))


def _shown(values: Sequence[Any]) -> list[str]:
    """Return the values of a parameter with as few digits as make them differ."""
    for digits in (4, 8, 17):
        texts = [f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def _deliver(study: Study, args: argparse.Namespace) -> None:
    if args.output is not None:
        study.save(args.output)
    if args.plot is not None:
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
    print(_means_table(study))
    for path in (args.output, args.plot):
        if path is not None:
            print(f"wrote {path}")


def _check_targets(
    args: argparse.Namespace, journal: str | None = None, read: Sequence[str] = ()
) -> None:
    if args.output is not None:
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
