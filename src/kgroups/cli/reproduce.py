"""``kgroups reproduce``: the paper's numbers beside ours."""

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgroups._partition_io import write_atomically
from kgroups.cli.tables import table, width
from kgroups.cli.targets import check_folder
from kgroups.errors import MissingExtraError

if TYPE_CHECKING:
    from kgroups.reproduce import Finding

__all__ = ["register", "run_experiments"]

_NAMES = (
    "girvan", "sbm", "real", "drosophila", "grqc", "init", "kmeans-on-bethe", "gauss1d",
    "gauss-dim", "gauss-n", "many-clusters", "unbalanced", "dermatology", "uci",
)  # fmt: skip
_FOLDER = "kgroups-reproduce"


def register(commands_of: Any) -> None:
    """Add the command to the parser."""
    command = commands_of.add_parser(
        "reproduce", help="run the paper's experiments and put its numbers beside ours"
    )
    command.set_defaults(run=run_experiments)
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("experiment", nargs="?", choices=_NAMES, metavar="EXPERIMENT",
                       help=", ".join(_NAMES))  # fmt: skip
    which.add_argument("--all", action="store_true", help="all experiments, in one report")
    command.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="graphs, samples or starts; the paper's number by default",
    )
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes; -1: all cores"
    )
    command.add_argument(
        "--output",
        default=_FOLDER,
        metavar="DIR",
        help=f"folder for tables, trials, figures and report.md; {_FOLDER} by default",
    )
    command.add_argument("--json", action="store_true", help="print one JSON document")


def run_experiments(args: argparse.Namespace) -> None:
    """Run one experiment or all, print what each found, and write it into a folder."""
    from kgroups.reproduce import reproduce

    check_folder(args.output)
    missing = _why_no_pictures()
    findings = []
    for name in _NAMES if args.all else (args.experiment,):
        finding = reproduce(name, trials=args.trials, n_jobs=args.jobs)
        findings.append(finding)
        if not args.json:
            print(f"{_shown(finding)}\n", flush=True)
        for path in finding.save(args.output, pictures=missing is None):
            if not args.json:
                print(f"wrote {path}")
        if missing is not None and finding.figures:
            names = ", ".join(f"{name}.png" for name in finding.figures)
            print(f"not drawn: {names}: {missing}", file=sys.stderr)
    sections = (finding.to_markdown(pictures=missing is None) for finding in findings)
    report = "\n".join(["# The paper's experiments\n", *sections])
    write_atomically(Path(args.output) / "report.md", report.encode())
    if args.json:
        documents = [_document(finding) for finding in findings]
        print(json.dumps({"experiments": documents, "output": args.output}, indent=2))
    else:
        print(f"wrote {Path(args.output) / 'report.md'}")


def _why_no_pictures() -> str | None:
    """Return what drawing needs and how to get it, or None where nothing is missing."""
    from kgroups.plotting.axes import require_matplotlib

    try:
        require_matplotlib()
    except MissingExtraError as error:
        return str(error)
    return None


def _shown(finding: "Finding") -> str:
    # All but the first and the last column are numbers.
    align = "l" + "r" * (len(finding.columns) - 2) + "l"
    lines = table(finding.columns, finding.cells(), align=align)
    claims = "\n".join(f"  {claim}" for claim in finding.claims)
    settings = textwrap.fill(finding.settings, width())
    return f"{finding.name}: {finding.title}\n{settings}\n\n{lines}\n\n{claims}"


def _document(finding: "Finding") -> dict[str, Any]:
    return {
        "experiment": finding.name,
        "title": finding.title,
        "settings": finding.settings,
        "columns": list(finding.columns),
        "lines": finding.cells(),
        "claims": [claim._asdict() for claim in finding.claims],
        "holds": finding.holds,
    }
