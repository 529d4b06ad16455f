"""Run the paper's experiments with ``python -m reproduce``, from the root of the repository."""

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgroups import cli

if TYPE_CHECKING:
    from reproduce import Finding

__all__ = ["build_parser", "main"]

_FOLDER = "kgroups-reproduce"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, as :func:`kgroups.cli.main` does."""
    return cli.main(argv, load_parser=build_parser, name="reproduce")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    from kgroups.cli.parser import remember_parsers
    from reproduce import EXPERIMENTS

    parser = argparse.ArgumentParser(
        prog="python -m reproduce",
        description="Run the paper's experiments and compare the published numbers with ours.",
        epilog=cli.EXIT_CODES,
    )
    parser.set_defaults(run=run_experiments)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("experiment", nargs="?", choices=EXPERIMENTS, metavar="EXPERIMENT",
                       help=", ".join(EXPERIMENTS))  # fmt: skip
    which.add_argument("--all", action="store_true", help="all experiments, in one report")
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="graphs, samples or starts; the paper's number by default",
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; -1: all cores")
    parser.add_argument(
        "--output",
        default=_FOLDER,
        metavar="DIR",
        help=f"folder for tables, trials, figures and report.md; {_FOLDER} by default",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    remember_parsers(parser)
    return parser


def run_experiments(args: argparse.Namespace) -> None:
    """Run one experiment or all, print the results, and write them to a folder."""
    from kgroups._output import write_atomically
    from reproduce import EXPERIMENTS, reproduce

    _check_folder(args.output)
    missing = _why_no_figures()
    findings = []
    for name in EXPERIMENTS if args.all else (args.experiment,):
        journal = _journal(args, name)
        finding = reproduce(name, trials=args.trials, n_jobs=args.jobs, journal=journal)
        findings.append(finding)
        if not args.json:
            print(f"{_shown(finding)}\n", flush=True)
        for path in finding.save(args.output, figures=missing is None):
            if not args.json:
                print(f"wrote {path}")
        if journal is not None:
            journal.unlink(missing_ok=True)
        if missing is not None and finding.figures:
            names = ", ".join(f"{name}.png" for name in finding.figures)
            print(f"not drawn: {names}: {missing}", file=sys.stderr)
    sections = (finding.to_markdown(figures=missing is None) for finding in findings)
    report = "\n".join(["# The paper's experiments\n", *sections])
    write_atomically(Path(args.output) / "report.md", report.encode())
    if args.json:
        documents = [_document(finding) for finding in findings]
        print(json.dumps({"experiments": documents, "output": args.output}, indent=2))
    else:
        print(f"wrote {Path(args.output) / 'report.md'}")


def _journal(args: argparse.Namespace, name: str) -> Path | None:
    """Return where finished trials are kept until the results are written."""
    from reproduce import RESUMABLE

    if name not in RESUMABLE:
        return None
    Path(args.output).mkdir(parents=True, exist_ok=True)
    trials = "" if args.trials is None else f"-{args.trials}"
    return Path(args.output) / f"{name}{trials}.jsonl"


def _check_folder(path: str) -> None:
    """Refuse a folder for results that is a file, or holds data of known networks and tables."""
    from kgroups import datasets
    from kgroups.cli.files import same_file
    from kgroups.errors import InputError

    folder = Path(path)
    if not folder.exists():
        return
    if not folder.is_dir():
        msg = f"--output must be a folder, {path!r} is a file."
        raise InputError(msg)
    known = (*datasets.describe(), *datasets.describe_tables())
    read = [source for entry in known for source in entry.paths]
    for place in folder.iterdir():
        if any(same_file(place, source) for source in read):
            msg = (
                "--output must be a folder without data that the experiments read, "
                f"{path!r} holds {place.name!r}.\n  Name another folder."
            )
            raise InputError(msg)


def _why_no_figures() -> str | None:
    """Return what drawing needs and how to get it, or None if nothing is missing."""
    from kgroups._output import require_matplotlib
    from kgroups.errors import MissingExtraError

    try:
        require_matplotlib()
    except MissingExtraError as error:
        return str(error)
    return None


def _shown(finding: "Finding") -> str:
    from kgroups.cli.views import table, width

    # All but the first and the last column are numbers.
    align = "l" + "r" * (len(finding.columns) - 2) + "l"
    lines = table(finding.columns, finding.cells(), align=align)
    claims = "\n".join(f"  {claim}" for claim in finding.claims)
    settings = textwrap.fill(finding.settings, width())
    text = f"{finding.name}: {finding.title}\n{settings}\n\n{lines}\n\n{claims}"
    return "\n\n".join([text, *map(_shown, finding.parts)])


def _document(finding: "Finding") -> dict[str, Any]:
    return {
        "experiment": finding.name,
        "title": finding.title,
        "settings": finding.settings,
        "columns": list(finding.columns),
        "lines": finding.cells(),
        "claims": [claim._asdict() for claim in finding.claims],
        "holds": finding.holds,
        "parts": [_document(part) for part in finding.parts],
    }


if __name__ == "__main__":
    sys.exit(main())
