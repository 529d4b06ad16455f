"""``kgroups generate``: draw a graph with planted groups and write it to a file."""

import argparse
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._extras import install_hint
from kgroups._partition_io import write_atomically
from kgroups.cli.targets import check_files
from kgroups.cli.views import counted
from kgroups.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from kgroups.generators import Planted

__all__ = ["draw_graph", "register"]

_MODELS = {
    "sbm": "a stochastic block model",
    "planted": "equal groups by mean degree and signal-to-noise ratio",
    "girvan-newman": "128 nodes in four groups of mean degree 16",
    "lfr": "degrees and community sizes by power laws",
    "dcsbm": "a stochastic block model whose degrees follow a power law",
}

_SNR = "signal-to-noise ratio; 1 is the threshold of detection"


def register(commands_of: Any) -> None:
    """Add the command to the parser."""
    generate = commands_of.add_parser("generate", help="draw a graph with planted groups")
    models = generate.add_subparsers(title="models", metavar="MODEL", required=True, dest="model")
    parsers = {}
    for name, what in _MODELS.items():
        parsers[name] = models.add_parser(name, help=what, description=f"Draw {what}.")
        parsers[name].set_defaults(run=draw_graph)
    _add_planted(parsers["planted"])
    parsers["girvan-newman"].add_argument(
        "--snr", type=float, required=True, metavar="X", help=_SNR
    )
    _add_beyond(parsers["girvan-newman"])
    _add_lfr(parsers["lfr"])
    for name in ("sbm", "dcsbm"):
        _add_blocks(parsers[name])
    parsers["dcsbm"].add_argument(
        "--exponent", type=float, default=2.5, metavar="X", help="of the propensities"
    )
    parsers["dcsbm"].add_argument(
        "--ratio", type=float, default=100.0, metavar="X", help="largest propensity over smallest"
    )
    for parser in parsers.values():
        _add_files(parser)


def _add_planted(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n", type=int, required=True, metavar="N", help="number of nodes")
    parser.add_argument("--k", type=int, required=True, metavar="K", help="number of groups")
    parser.add_argument("--degree", type=float, required=True, metavar="X", help="mean degree")
    parser.add_argument(
        "--snr",
        type=float,
        required=True,
        metavar="X",
        help=_SNR,
    )
    parser.add_argument(
        "--sizes", choices=["balanced", "multinomial"], default="balanced", help="of the groups"
    )
    _add_beyond(parser)


def _add_blocks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", required=True, metavar="N,N,...", help="nodes of each block")
    parser.add_argument(
        "--matrix", metavar="ROWS", help='edge probabilities, such as "0.2,0.01; 0.01,0.3"'
    )
    parser.add_argument("--inside", type=float, metavar="P", help="edge probability in a block")
    parser.add_argument("--between", type=float, metavar="P", help="and between two blocks")
    parser.add_argument("--degree", type=float, metavar="X", help="or the mean degree")
    parser.add_argument("--snr", type=float, metavar="X", help="and the signal-to-noise ratio")
    _add_beyond(parser)


def _add_beyond(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--beyond",
        choices=["error", "clip"],
        default="error",
        help="where snr exceeds the root of the degree: refuse, or no edges between groups",
    )


def _add_lfr(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n", type=int, required=True, metavar="N", help="number of nodes")
    parser.add_argument("--degree", type=float, required=True, metavar="X", help="mean degree")
    parser.add_argument(
        "--mixing", type=float, required=True, metavar="X", help="share of edges between groups"
    )
    parser.add_argument("--max-degree", type=int, metavar="N", help="five times the mean if absent")
    parser.add_argument("--degree-exponent", type=float, default=2.5, metavar="X")
    parser.add_argument("--community-exponent", type=float, default=1.5, metavar="X")
    parser.add_argument("--min-community", type=int, default=20, metavar="N")
    parser.add_argument("--max-community", type=int, metavar="N")
    parser.add_argument(
        "--internal",
        choices=["fixed", "binomial"],
        default="fixed",
        help="edges of each node in its own group: a fixed share, or by coins (default: fixed)",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rng", type=int, metavar="N", help="seed; fresh, and printed, if absent")
    parser.add_argument(
        "--output", required=True, metavar="FILE", help=f"write the graph: {', '.join(_ENCODERS)}"
    )
    parser.add_argument("--labels", metavar="FILE", help="write the planted groups: .csv")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def draw_graph(args: argparse.Namespace) -> None:
    """Draw a graph, write it, and say what was drawn."""
    encode = _encoder(args.output)
    _check_targets(args)
    planted = _DRAW[args.model](args)
    contents = {args.output: encode(planted)}
    if args.labels is not None:
        contents[args.labels] = _labels_as_csv(planted)
    for path, content in contents.items():
        write_atomically(path, content)
    graph = planted.graph
    lost = int(np.count_nonzero(graph.degrees == 0)) if encode in _WITHOUT_LONE_NODES else 0
    if args.json:
        document = {
            "model": args.model,
            "nodes": graph.n,
            "edges": graph.m,
            "groups": int(np.unique(planted.labels).size),
            "unplaced_edges": planted.unplaced_edges,
            "rng": planted.entropy,
            "output": args.output,
            "labels": args.labels,
            "nodes_not_in_output": lost,
        }
        print(json.dumps(document, indent=2))
        return
    groups = counted(int(np.unique(planted.labels).size), "group", "groups")
    print(f"{args.model}: {graph.n} nodes, {graph.m} edges, {groups}")
    if planted.unplaced_edges:
        print(f"{planted.unplaced_edges} edges found no place")
    print(f"--rng {planted.entropy} draws this graph again")
    if lost:
        nodes = counted(lost, "node without an edge is", "nodes without an edge are")
        print(f"{nodes} not in {args.output}; .npz and .gml keep such nodes")
    for path in contents:
        print(f"wrote {path}")


def _draw_planted(args: argparse.Namespace) -> "Planted":
    from kgroups.generators import planted_partition

    return planted_partition(
        args.n, args.k, args.degree, args.snr, sizes=args.sizes, beyond=args.beyond, rng=args.rng
    )


def _draw_girvan_newman(args: argparse.Namespace) -> "Planted":
    from kgroups.generators import girvan_newman_benchmark

    return girvan_newman_benchmark(args.snr, beyond=args.beyond, rng=args.rng)


def _draw_sbm(args: argparse.Namespace) -> "Planted":
    from kgroups.generators import stochastic_block_model

    sizes = _sizes(args.sizes)
    return stochastic_block_model(sizes, _probabilities(args, len(sizes)), rng=args.rng)


def _draw_dcsbm(args: argparse.Namespace) -> "Planted":
    from kgroups.generators import PowerLaw, degree_corrected_sbm

    sizes = _sizes(args.sizes)
    propensities = PowerLaw(args.exponent, args.ratio)
    P = _probabilities(args, len(sizes))
    return degree_corrected_sbm(sizes, P, propensities, rng=args.rng)


def _draw_lfr(args: argparse.Namespace) -> "Planted":
    from kgroups.generators import lfr_benchmark

    return lfr_benchmark(
        args.n,
        degree=args.degree,
        mixing=args.mixing,
        max_degree=args.max_degree,
        degree_exponent=args.degree_exponent,
        community_exponent=args.community_exponent,
        min_community=args.min_community,
        max_community=args.max_community,
        internal=args.internal,
        rng=args.rng,
    )


_DRAW: dict[str, Callable[[argparse.Namespace], "Planted"]] = {
    "sbm": _draw_sbm,
    "planted": _draw_planted,
    "girvan-newman": _draw_girvan_newman,
    "lfr": _draw_lfr,
    "dcsbm": _draw_dcsbm,
}


def _sizes(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        msg = f"--sizes must be whole numbers between commas, such as 50,30,20; got {text!r}."
        raise InputError(msg) from None


def _probabilities(args: argparse.Namespace, k: int) -> Any:
    """Return what one of the three ways to give probabilities says."""
    from kgroups.generators import PlantedAffinity
    from kgroups.generators.arguments import real_number

    ways = {
        "--matrix": (args.matrix,),
        "--inside and --between": (args.inside, args.between),
        "--degree and --snr": (args.degree, args.snr),
    }
    given = [way for way, values in ways.items() if any(value is not None for value in values)]
    if len(given) != 1 or None in ways[given[0]]:
        msg = f"edge probabilities must be given by {', or by '.join(ways)}, one way only."
        raise InputError(msg)
    if args.matrix is not None:
        return _matrix(args.matrix)
    if args.degree is not None:
        return PlantedAffinity(args.degree, args.snr, args.beyond)
    for name in ("inside", "between"):
        real_number(name, getattr(args, name), low=0.0, high=1.0)
    return np.where(np.eye(k, dtype=bool), args.inside, args.between)


def _matrix(text: str) -> list[list[float]]:
    try:
        return [[float(word) for word in row.split(",")] for row in text.split(";")]
    except ValueError:
        msg = (
            "--matrix must be numbers between commas, a semicolon after each row, such as "
            f'"0.2,0.01; 0.01,0.3"; got {text!r}.'
        )
        raise InputError(msg) from None


def _as_csv(planted: "Planted") -> bytes:
    u, v, _ = planted.graph.edges()
    lines = map("{},{}\n".format, u.tolist(), v.tolist())
    return ("source,target\n" + "".join(lines)).encode()


def _as_npz(planted: "Planted") -> bytes:
    from scipy import sparse

    content = io.BytesIO()
    sparse.save_npz(content, planted.graph.to_scipy())
    return content.getvalue()


def _as_parquet(planted: "Planted") -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        msg = f"Parquet files need pyarrow. {install_hint('parquet')}"
        raise MissingExtraError(msg) from error
    u, v, _ = planted.graph.edges()
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({"source": u, "target": v}), content)
    return content.getvalue()


def _as_gml(planted: "Planted") -> bytes:
    from networkx import generate_gml

    return ("\n".join(generate_gml(planted.to_networkx())) + "\n").encode()


def _labels_as_csv(planted: "Planted") -> bytes:
    lines = map("{},{}\n".format, range(planted.labels.size), planted.labels.tolist())
    return ("node,community\n" + "".join(lines)).encode()


_ENCODERS: dict[str, Callable[["Planted"], bytes]] = {
    ".csv": _as_csv,
    ".npz": _as_npz,
    ".parquet": _as_parquet,
    ".gml": _as_gml,
}
_WITHOUT_LONE_NODES = (_as_csv, _as_parquet)


def _encoder(path: str) -> Callable[["Planted"], bytes]:
    suffix = Path(path).suffix.lower()
    if suffix not in _ENCODERS:
        msg = f"the name of a drawn graph must end in {', '.join(_ENCODERS)}; got {path!r}."
        raise InputError(msg)
    return _ENCODERS[suffix]


def _check_targets(args: argparse.Namespace) -> None:
    """Refuse what cannot be written before the graph is drawn."""
    if args.labels is not None and Path(args.labels).suffix.lower() != ".csv":
        msg = f"the name of a file of labels must end in .csv; got {args.labels!r}."
        raise InputError(msg)
    check_files(args.output, args.labels)
