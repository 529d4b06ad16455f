"""``kgroups generate``: draw a graph with planted groups and write it to a file."""

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kgroups as kg
from kgroups._output import encode_table, write_atomically
from kgroups._validation import check_real
from kgroups.cli.files import check_files
from kgroups.cli.parser import DRAWN_SUFFIXES
from kgroups.cli.views import counted, print_json
from kgroups.errors import InputError

if TYPE_CHECKING:
    from kgroups.generators import Planted

# Lists of edges, which do not hold nodes without an edge.
_TABLES = (".csv", ".parquet")
_LFR_OPTIONS = (
    "degree", "mixing", "max_degree", "degree_exponent", "community_exponent", "min_community",
    "max_community", "internal",
)  # fmt: skip


def draw_graph(args: argparse.Namespace) -> None:
    """Draw a graph, write it, and print what was drawn."""
    suffix = Path(args.output).suffix.lower()
    if suffix not in DRAWN_SUFFIXES:
        listed = ", ".join(DRAWN_SUFFIXES)
        msg = f"the name of a drawn graph must end in {listed}; got {args.output!r}."
        raise InputError(msg)
    if args.labels is not None and Path(args.labels).suffix.lower() != ".csv":
        msg = f"the name of a file of labels must end in .csv; got {args.labels!r}."
        raise InputError(msg)
    check_files(args.output, args.labels)
    planted = _drawn(args)
    contents = {args.output: _encoded(planted, args.output)}
    if args.labels is not None:
        columns = {"node": range(planted.labels.size), "community": planted.labels}
        contents[args.labels] = encode_table(columns, args.labels)
    for path, content in contents.items():
        write_atomically(path, content)
    graph, groups = planted.graph, int(np.unique(planted.labels).size)
    lost = int(np.count_nonzero(graph.degrees == 0)) if suffix in _TABLES else 0
    if args.json:
        document = {
            "model": args.model,
            "nodes": graph.n,
            "edges": graph.m,
            "groups": groups,
            "unplaced_edges": planted.unplaced_edges,
            "rng": planted.entropy,
            "output": args.output,
            "labels": args.labels,
            "nodes_not_in_output": lost,
        }
        print_json(document)
        return
    shown = counted(groups, "group", "groups")
    print(f"{args.model}: {graph.n} nodes, {graph.m} edges, {shown}")
    if planted.unplaced_edges:
        print(f"{planted.unplaced_edges} edges could not be placed")
    print(f"--rng {planted.entropy} draws this graph again")
    if lost:
        nodes = counted(lost, "node without an edge is", "nodes without an edge are")
        print(f"{nodes} not in {args.output}; .npz and .gml keep such nodes")
    for path in contents:
        print(f"wrote {path}")


def _drawn(args: argparse.Namespace) -> "Planted":
    generators = kg.generators
    if args.model == "girvan-newman":
        return generators.girvan_newman_benchmark(args.snr, beyond=args.beyond, rng=args.rng)
    if args.model == "planted":
        options = {"sizes": args.sizes, "beyond": args.beyond, "rng": args.rng}
        return generators.planted_partition(args.n, args.k, args.degree, args.snr, **options)
    if args.model == "lfr":
        options = {name: getattr(args, name) for name in _LFR_OPTIONS}
        return generators.lfr_benchmark(args.n, **options, rng=args.rng)
    try:
        sizes = [int(word) for word in args.sizes.split(",")]
    except ValueError:
        msg = f"--sizes must be whole numbers between commas, such as 50,30,20; got {args.sizes!r}."
        raise InputError(msg) from None
    P = _probabilities(args, len(sizes))
    if args.model == "sbm":
        return generators.stochastic_block_model(sizes, P, rng=args.rng)
    propensities = generators.PowerLaw(args.exponent, args.ratio)
    return generators.degree_corrected_sbm(sizes, P, propensities, rng=args.rng)


def _probabilities(args: argparse.Namespace, k: int) -> Any:
    """Return the edge probabilities, which can be given in three ways."""
    ways = {
        "--matrix": (args.matrix,),
        "--inside and --between": (args.inside, args.between),
        "--degree and --snr": (args.degree, args.snr),
    }
    given = [way for way, values in ways.items() if any(value is not None for value in values)]
    if len(given) != 1 or None in ways[given[0]]:
        msg = f"edge probabilities must be given by {', or by '.join(ways)}, one way only."
        raise InputError(msg)
    if args.degree is not None:
        return kg.generators.PlantedAffinity(args.degree, args.snr, args.beyond)
    if args.matrix is None:
        for name in ("inside", "between"):
            check_real(name, getattr(args, name), low=0.0, high=1.0)
        return np.where(np.eye(k, dtype=bool), args.inside, args.between)
    try:
        return [[float(word) for word in row.split(",")] for row in args.matrix.split(";")]
    except ValueError:
        msg = (
            "--matrix must be numbers between commas, a semicolon after each row, such as "
            f'"0.2,0.01; 0.01,0.3"; got {args.matrix!r}.'
        )
        raise InputError(msg) from None


def _encoded(planted: "Planted", path: str) -> bytes:
    """Return the content of a file with the graph, in the format of its suffix."""
    suffix = Path(path).suffix.lower()
    if suffix in _TABLES:
        u, v, _ = planted.graph.edges()
        return encode_table({"source": u, "target": v}, path)
    if suffix == ".gml":
        from networkx import generate_gml

        return ("\n".join(generate_gml(planted.to_networkx())) + "\n").encode()
    from scipy import sparse

    content = io.BytesIO()
    sparse.save_npz(content, planted.graph.to_scipy())
    return content.getvalue()
