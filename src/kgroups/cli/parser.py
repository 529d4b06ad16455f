"""What the command line understands."""

import argparse

import kgroups
from kgroups.adapters.compression import MAX_EXPANSION
from kgroups.cli import commands, generate, reproduce, study
from kgroups.cli.flags import note_parsers

__all__ = ["build_parser"]

_GRAPH = (
    "a file (GML, GraphML, Pajek, edge list, Matrix Market, .npz, Parquet) or the name of a known "
    "network such as karate (`kgroups datasets` lists them; write ./karate for a file of that name)"
)
_PARTITION = "a partition file: .csv or .parquet with columns node and community, or .json"
_EXIT = (
    "exit codes: 0 done, 1 an error explained on stderr, 2 wrong usage, 130 interrupted, "
    "141 output closed, 143 terminated"
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run`` to the function that does it."""
    parser = argparse.ArgumentParser(
        prog="kgroups",
        description="Communities of graphs, with the number of communities found for you.",
        epilog=_EXIT,
    )
    parser.add_argument("--version", action="version", version=f"kgroups {kgroups.__version__}")
    commands_of = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    detect = commands_of.add_parser("detect", help="find the communities of a graph")
    detect.set_defaults(run=commands.detect)
    _add_graph(detect)
    detect.add_argument(
        "-k", type=int, metavar="K", help="number of communities; found from the spectrum if absent"
    )
    _add_self_loops(detect)
    detect.add_argument(
        "--rng", type=int, metavar="N", help="seed of the first labels; fixed if absent"
    )
    detect.add_argument(
        "--output",
        metavar="FILE",
        help="write the partition: .csv, .json, .parquet, .csv.gz, ...; or the graph with the "
        "communities of its nodes, for Gephi: .gml, .graphml",
    )
    detect.add_argument("--plot", metavar="FILE", help="draw the communities: .png, .svg or .pdf")
    _add_json(detect)

    score = commands_of.add_parser("score", help="score a partition on its graph")
    score.set_defaults(run=commands.score)
    _add_graph(score)
    score.add_argument("partition", metavar="PARTITION", help=_PARTITION)
    score.add_argument(
        "--resolution", type=float, default=1.0, metavar="R", help="of the modularity (default: 1)"
    )
    _add_json(score)

    info = commands_of.add_parser("info", help="describe a graph and what its spectrum shows")
    info.set_defaults(run=commands.info)
    _add_graph(info)
    _add_self_loops(info)
    _add_json(info)

    datasets = commands_of.add_parser("datasets", help="list the known networks and tables")
    datasets.set_defaults(run=commands.list_datasets)
    _add_json(datasets)

    study.register(commands_of)
    generate.register(commands_of)
    reproduce.register(commands_of)

    warm = commands_of.add_parser("warm", help="compile everything, so that the next call is fast")
    warm.set_defaults(run=commands.warm)
    _add_json(warm)
    note_parsers(parser)
    return parser


def _add_graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", help=_GRAPH)
    weights = parser.add_mutually_exclusive_group()
    weights.add_argument(
        "--weight",
        default="weight",
        metavar="NAME",
        help="edge attribute or column that holds the weights (default: weight, if there is one)",
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


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")
