"""The parser of the command line, and messages of the library in terms of its flags."""

import argparse
import shlex
from collections.abc import Iterator
from typing import Any

import kgroups
from kgroups._wording import Wording
from kgroups.adapters import FORMATS, MAX_EXPANSION
from kgroups.cli import EXIT_CODES, commands, generate, study

_PARSER = "command_parser"
# Flags of library arguments with another name; of several the first that is given.
FLAGS_OF_ARGUMENT = {"n_jobs": ("jobs",), "P": ("matrix", "inside", "degree")}
COMMAND_OF_FUNCTION = {
    "Partition.save()": "`kgroups detect --output FILE`",
    "Study.save()": "`kgroups study --output FILE`",
    "kgroups.read_graph()": "`kgroups detect PATH`",
    "kgroups.datasets.names()": "`kgroups datasets`",
}


def remember_parsers(parser: argparse.ArgumentParser) -> None:
    """Store the parser of each command in the arguments that it returns."""
    parser.set_defaults(**{_PARSER: parser})
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                remember_parsers(command)


class Flags(Wording):
    """Arguments of the library as flags of the command; see :func:`remember_parsers`."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._parser: argparse.ArgumentParser = getattr(args, _PARSER)

    def argument(self, name: str) -> str:
        """Return the flag that sets an argument."""
        for action in self._actions(name):
            if not isinstance(action, argparse._StoreConstAction):
                return action.option_strings[0]
        return name

    def setting(self, name: str, value: object) -> str:
        """Return the flag with its value, or the flag that stands for the value."""
        for action in self._actions(name):
            if isinstance(action, argparse._StoreConstAction) and action.const is value:
                return action.option_strings[0]
        flag = self.argument(name)
        return f"no {flag}" if value is None else f"{flag} {_typed(value)}"

    def function(self, name: str) -> str:
        """Return the command that does what a function does, or its name if none does."""
        return COMMAND_OF_FUNCTION.get(name, name)

    def in_python(self, text: str) -> str:
        """Leave out advice for callers in Python."""
        return ""

    def _actions(self, name: str) -> Iterator[argparse.Action]:
        dests = FLAGS_OF_ARGUMENT.get(name, (name,))
        given = [dest for dest in dests if getattr(self._args, dest, None) is not None]
        for action in self._parser._actions:
            if action.dest == (given or dests)[0] and action.option_strings:
                yield action


def _typed(value: object) -> str:
    """Return a value as in a shell: i/N for a pair of numbers, commas between words."""
    if not isinstance(value, tuple):
        return shlex.quote(str(value))
    separator = "," if all(isinstance(part, str) for part in value) else "/"
    return shlex.quote(separator.join(map(str, value)))


_GRAPH = (
    f"a file ({', '.join(one.title for one in FORMATS)}), - for an edge list on standard input, or "
    "the name of a known network "
    "such as karate (`kgroups datasets` lists them; write ./karate for a file of that name)"
)
_REPRODUCE = (
    "kgroups: error: the paper's experiments are not part of the installed package.\n"
    "  Run `python -m reproduce girvan` at the root of a checkout of the repository.\n"
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run`` to its function."""
    parser = argparse.ArgumentParser(
        prog="kgroups",
        description="Communities of graphs, with the number of communities found for you.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"kgroups {kgroups.__version__}")
    commands_of = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    detect = _add_command(commands_of, commands.detect, "detect", "find the communities of a graph")
    _add_graph(detect)
    detect.add_argument(
        "-k",
        "--k",
        type=int,
        metavar="K",
        help="number of communities; found with the communities if absent",
    )
    _add_self_loops(detect)
    detect.add_argument(
        "--rng", type=int, metavar="N", help="seed of the first labels; fixed if absent"
    )
    detect.add_argument(
        "--output",
        metavar="FILE",
        help="write the partition: .csv, .json, .parquet, .csv.gz, ...; or the graph with the "
        "communities of its nodes, for Gephi: .gml, .graphml, .gexf",
    )
    detect.add_argument(
        "--confidence",
        action="store_true",
        help="compute how probable the community of each node is, given the model and k; adds "
        "columns to the table and to the output",
    )
    detect.add_argument(
        "--stability",
        action="store_true",
        help="find communities again in ten copies without 10 %% of the edges; prints which "
        "communities are found again, and adds a column to the output",
    )
    detect.add_argument(
        "--k-distribution",
        action="store_true",
        help="compute how probable each number of communities is",
    )
    detect.add_argument(
        "--levels",
        action="store_true",
        help="find communities at finer and coarser scales, too; prints a line a level, and adds "
        "a column a level to the output, such as k27 for the one of 27 communities",
    )
    detect.add_argument("--plot", metavar="FILE", help="draw the communities: .png, .svg or .pdf")
    detect.add_argument(
        "--html", metavar="FILE", help="write an interactive report, one file that opens offline"
    )
    detect.add_argument(
        "--html-details",
        choices=list(commands.DETAILS),
        default="auto",
        help="whether the report has the spectrum, the confidence of nodes, the levels, and how "
        "sure and stable the communities are, which take longest (default: auto, what is known, "
        "levels up to 50,000 nodes, and the others up to 1,000)",
    )

    score = _add_command(commands_of, commands.score, "score", "score a partition on its graph")
    _add_graph(score)
    score.add_argument(
        "partition",
        metavar="PARTITION",
        help=("a partition file: .csv or .parquet with columns node and community, or .json"),
    )
    score.add_argument(
        "--resolution", type=float, default=1.0, metavar="R", help="of the modularity (default: 1)"
    )

    about = "describe a graph and what its spectrum shows"
    info = _add_command(commands_of, commands.info, "info", about)
    _add_graph(info)
    _add_self_loops(info)
    info.add_argument(
        "--k-distribution",
        action="store_true",
        help="also weigh the numbers of communities by the evidence for each, which takes longer",
    )

    about = "test whether a graph has more structure than random graphs"
    judged = _add_command(commands_of, commands.judge, "verdict", about)
    _add_graph(judged)
    commands.add_arguments(judged)

    about = "list the known networks and tables"
    listed = _add_command(commands_of, commands.list_datasets, "datasets", about)
    study.register(commands_of)
    generate.register(commands_of)
    _add_reproduce(commands_of)
    about = "compile everything, so that the next call is fast"
    warm = _add_command(commands_of, commands.warm, "warm", about)
    for command in (detect, score, info, judged, listed, warm):
        command.add_argument("--json", action="store_true", help="print one JSON document")
    remember_parsers(parser)
    return parser


def _add_command(commands_of: Any, run: Any, name: str, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands_of.add_parser(name, help=about)
    parser.set_defaults(run=run)
    return parser


def _add_reproduce(commands_of: Any) -> None:
    """Add the former command ``reproduce``, which says where the experiments are now."""
    # No argument is an option to this parser, so that all are taken whatever they are.
    command = commands_of.add_parser(
        "reproduce", help="moved to `python -m reproduce`", add_help=False, prefix_chars="\0"
    )
    command.add_argument("arguments", nargs="*")
    command.set_defaults(run=lambda args: command.exit(2, _REPRODUCE))


def _add_graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", help=_GRAPH)
    weights = parser.add_mutually_exclusive_group()
    weights.add_argument(
        "--weight",
        default="weight",
        metavar="NAME",
        help="edge attribute or column that holds the weights (default: weight, or a column with a "
        "usual name such as strength)",
    )
    weights.add_argument(
        "--no-weight", dest="weight", action="store_const", const=None, help="ignore weights"
    )
    for end in ("source", "target"):
        parser.add_argument(
            f"--{end}",
            metavar="NAME",
            help=f"column of a table that holds the {end} of each edge; usual names are found",
        )
    parser.add_argument(
        "--max-expansion",
        type=float,
        default=MAX_EXPANSION,
        metavar="TIMES",
        help="how many times its size a compressed file may expand to, beyond 64 MiB "
        f"(default: {MAX_EXPANSION:g}; inf for no limit)",
    )
    parser.add_argument(
        "--symmetrize",
        choices=["sum", "union"],
        help="make a directed graph undirected: add both directions, or any edge is one edge; "
        "known networks that are directed are loaded with union",
    )


def _add_self_loops(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--self-loops",
        choices=["drop", "keep"],
        default="drop",
        help="whether self-loops take part (default: drop)",
    )
