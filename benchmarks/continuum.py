"""``python -m benchmarks.continuum``: which graphs are said to be a continuum, and the bars.

Each graph has a line: what is found, the numbers that decide, and others that were tried. Grids,
points linked to those nearby, small worlds and clouds of points have no communities, and those that
are found should be warned of. Planted communities should not. Below stand the shares of graphs that
are warned of beside their bars, and how well each number tells the graphs apart: the probability
that it is more extreme on a continuum than on a planted graph (AUC), and the share of the continuum
that is beyond all but 5 % of the planted graphs. The exit status is 1 if a bar is missed.

The parts are

- ``continuum``: five kinds of graphs without communities, each of many sizes;
- ``planted``: 200 graphs with communities;
- ``real``: real networks, the largest component of each.
"""

import argparse
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kgroups as kg
from benchmarks import table
from benchmarks.graphs import (
    BenchmarkGraph,
    blobs,
    degree_corrected,
    hierarchy,
    linked_pairs,
    neighbors_of,
    own_lfr,
    planted_partition,
    small_world,
)
from benchmarks.journal import Kept, Record
from benchmarks.scales import (
    FIGURES,
    REAL,
    Figure,
    Measured,
    Part,
    at_least,
    at_most,
    measure_part,
    on_graph,
)
from benchmarks.suites import Row
from benchmarks.table import Column
from kgroups import metrics
from kgroups._csr import row_sums
from kgroups._types import Floats
from kgroups.errors import ContinuumWarning, KGroupsWarning
from kgroups.search import prepare
from kgroups.search.candidates import labels_from_zero
from kgroups.search.objective import separation

COLUMNS = (
    Column("graph", 45),
    Column("n", 6),
    Column("m", 7),
    Column("k", 6),
    Column("dispersion", 11),
    Column("contiguity", 11),
    Column("separation", 11),
    Column("sparsity", 9),
    Column("agreement", 10),
    Column("warned", 7),
)
ROC_COLUMNS = (Column("number", 24), Column("AUC", 7), Column("beyond 95 %", 12))
_FALSE_ALARMS = 0.05


# --- Graphs of many sizes ------------------------------------------------------------------------


def lattice(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw a grid of squares, with or without ends, of hexagons or of triangles."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    rows, columns = (int(size) for size in rng.integers(15, 80, size=2))
    kinds = (
        lambda: nx.grid_2d_graph(rows, columns),
        lambda: nx.grid_2d_graph(rows, columns, periodic=True),
        lambda: nx.hexagonal_lattice_graph(rows, columns),
        lambda: nx.triangular_lattice_graph(rows, columns),
    )
    return _of_networkx(name, kinds[seed % len(kinds)]())


def _of_networkx(name: str, G: Any, truth: Any = None) -> BenchmarkGraph:
    import networkx as nx

    u, v = np.array(nx.convert_node_labels_to_integers(G).edges).T
    apart = u != v
    return BenchmarkGraph(name, len(G), u[apart], v[apart], truth)


def geometric(name: str, *, seed: int) -> BenchmarkGraph:
    """Link points of the unit square that are near each other."""
    from scipy.spatial import KDTree

    rng = np.random.default_rng(seed)
    n, degree = int(rng.integers(300, 6_000)), rng.uniform(6.0, 25.0)
    radius = np.sqrt(degree / (np.pi * n))
    u, v = KDTree(rng.random((n, 2))).query_pairs(radius, output_type="ndarray").T
    return BenchmarkGraph(name, n, u, v, None)


def ring(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw a small world with 1 to 20 % of its edges rewired."""
    rng = np.random.default_rng(seed)
    n, degree = int(rng.integers(300, 6_000)), int(rng.choice([4, 6, 8, 10, 12]))
    rewired = float(np.exp(rng.uniform(np.log(0.01), np.log(0.2))))
    return small_world(name, n=n, degree=degree, rewired=rewired, seed=seed)


def cloud(name: str, *, dimension: int, seed: int) -> BenchmarkGraph:
    """Link points of one cloud, normal or uniform, to 5 to 30 nearest ones."""
    rng = np.random.default_rng(seed)
    n, near = int(rng.integers(300, 6_000)), int(rng.integers(5, 31))
    draw = (rng.normal, rng.uniform)[seed % 2]
    return neighbors_of(name, draw(size=(n, dimension)), near)


def equal_groups(name: str, *, corrected: bool, seed: int) -> BenchmarkGraph:
    """Draw a planted partition, clear or faint, with even or uneven degrees."""
    rng = np.random.default_rng(seed)
    k, size = int(rng.choice([2, 3, 5, 10, 20, 40])), int(rng.integers(40, 150))
    degree = rng.uniform(8.0, 25.0)
    snr = rng.uniform(1.4, min(4.0, 0.9 * np.sqrt(degree)))
    draw = degree_corrected if corrected else planted_partition
    return draw(name, n=k * max(size, 200 // k), k=k, degree=degree, snr=snr, seed=seed)


def power_laws(name: str, *, internal: str, mixing: tuple[float, float], seed: int):
    """Draw an LFR graph."""
    rng = np.random.default_rng(seed)
    n, degree = int(rng.integers(500, 6_000)), rng.uniform(10.0, 25.0)
    mu = rng.uniform(*mixing)
    return own_lfr(name, n=n, degree=degree, mixing=mu, seed=seed, internal=internal)


def nested(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw 27 groups in 9 in 3."""
    return hierarchy(name, degree=np.random.default_rng(seed).uniform(8.0, 30.0), seed=seed)


def cliques(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw a ring of cliques."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    return _of_networkx(name, nx.ring_of_cliques(*rng.integers((5, 4), (80, 20)).tolist()))


def caves(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw cliques with 5 to 40 % of their links rewired."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    count, size = rng.integers((8, 6), (60, 25)).tolist()
    return _of_networkx(
        name, nx.relaxed_caveman_graph(count, size, rng.uniform(0.05, 0.4), seed=seed)
    )


def separate_clouds(name: str, *, seed: int) -> BenchmarkGraph:
    """Draw eight clouds of points that hardly overlap, each point linked to its 15 nearest."""
    return blobs(name, spread=float(np.random.default_rng(seed).uniform(1.5, 4.5)), seed=seed)


CONTINUUM = (
    Row("grid", lattice),
    Row("geometric", geometric),
    Row("small world", ring),
    Row("cloud in 2 dimensions", partial(cloud, dimension=2)),
    Row("cloud in 10 dimensions", partial(cloud, dimension=10)),
)
PLANTED = (
    Row("SBM", partial(equal_groups, corrected=False)),
    Row("DCSBM", partial(equal_groups, corrected=True)),
    Row("LFR binomial", partial(power_laws, internal="binomial", mixing=(0.2, 0.6))),
    Row("LFR fixed", partial(power_laws, internal="fixed", mixing=(0.2, 0.6))),
    Row("LFR fixed, mixing above .5", partial(power_laws, internal="fixed", mixing=(0.5, 0.6))),
    Row("SBM k=40", partial(planted_partition, n=4_000, k=40, degree=20.0, snr=2.5)),
    Row("27/9/3", nested),
    Row("ring of cliques", cliques),
    Row("relaxed caveman", caves),
    Row("clouds", separate_clouds),
)


# --- What is measured on a graph -----------------------------------------------------------------


def measured(graph: BenchmarkGraph, seed: int) -> Record:
    """Return what is found, whether it is warned of, and the numbers that may tell."""
    given = kg.Graph.from_edges(graph.source, graph.target, n=graph.n)
    found = kg.detect_communities(given, rng=seed)
    report = found.report
    record = {
        "n": graph.n,
        "m": graph.m,
        "k": len(found),
        "warned": any(isinstance(warning, ContinuumWarning) for warning in report.warnings),
        "dispersion": report.dispersion,
        "contiguity": report.contiguity,
        "separation": None,
        "sparsity": None,
        "agreement": None,
    }
    if len(found) == 1:
        return record
    labels = np.asarray(found.labels)
    record["separation"] = separation_of(given, labels, report.dispersion)
    record["sparsity"] = sparsity(graph, labels)
    # Other names of the nodes, and so another order of work.
    order = np.random.default_rng(seed).permutation(graph.n)
    renamed = kg.Graph.from_edges(order[graph.source], order[graph.target], n=graph.n)
    again = np.asarray(kg.detect_communities(renamed).labels)[order]
    record["agreement"] = metrics.ami(labels, again)
    return record


def separation_of(graph: kg.Graph, labels: Any, dispersion: float) -> float | None:
    """Return the separation, whatever the contiguity; None without three communities."""
    ready = prepare(graph)
    problem = ready.problem.dispersed(dispersion)
    z, k = labels_from_zero(ready.sorted(labels), problem)
    which = np.flatnonzero(k > 2)
    return separation(problem.level, problem.objective, z, k, which) if which.size else None


def sparsity(graph: BenchmarkGraph, labels: Any) -> float:
    """Return how many pairs of communities are linked, relative to those expected.

    If links between communities went anywhere, r and s would be linked with probability
    1 - exp(-O_r O_s / O), with O_r links that leave r and O that leave any.
    """
    r, s = labels[graph.source], labels[graph.target]
    apart, k = r != s, int(labels.max()) + 1
    ends = np.concatenate([r[apart], s[apart]])
    O = row_sums(ends, np.ones(ends.size), k)  # noqa: E741
    chance = -np.expm1(-np.outer(O, O) / max(O.sum(), 1.0))
    expected = 0.5 * float(chance.sum() - np.trace(chance))
    return linked_pairs(r[apart], s[apart]).shape[0] / expected if expected else 1.0


def line(name: str, records: dict[str, Record]) -> list[str]:
    """Return the line of a graph."""
    one = records["kgroups"]
    numbers = ("dispersion", "contiguity", "separation", "sparsity", "agreement")
    return [
        name,
        *(str(one[field]) for field in ("n", "m", "k")),
        *(table.number(one[field], 3) for field in numbers),
        "yes" if one["warned"] else "no",
    ]


# --- Figures -------------------------------------------------------------------------------------


def _kinds(measured: Measured) -> dict[str, list[Record]]:
    kinds: dict[str, list[Record]] = {}
    for name, records in measured:
        kinds.setdefault(name, []).append(records["kgroups"])
    return kinds


def continuum_figures(measured: Measured) -> Iterator[Figure]:
    """Yield the share that is warned of, of all graphs and of those that are divided."""
    everyone = [records["kgroups"] for _, records in measured]
    yield Figure(
        f"share warned of, {len(everyone)} continuum graphs", _share(everyone), at_least(0.9)
    )
    divided = [records["kgroups"] for _, records in measured if records["kgroups"]["k"] > 1]
    if divided:
        about = f"share warned of, {len(divided)} divided continuum graphs"
        yield Figure(about, _share(divided))
    for kind, records in _kinds(measured).items():
        some = [one for one in records if one["k"] > 1]
        if some:
            yield Figure(f"  {len(some)} of {len(records)}: {kind}", _share(some))


def planted_figures(measured: Measured) -> Iterator[Figure]:
    """Yield the share of graphs with communities that is warned of."""
    everyone = [records["kgroups"] for _, records in measured]
    about = f"share warned of, {len(everyone)} planted graphs"
    yield Figure(about, _share(everyone), at_most(_FALSE_ALARMS))
    for kind, records in _kinds(measured).items():
        yield Figure(f"  {len(records)}: {kind}", _share(records))


def real_figures(measured: Measured) -> Iterator[Figure]:
    """Yield the share of real networks that is warned of, and their names."""
    yield Figure(
        f"share warned of, {len(measured)} real networks",
        _share([records["kgroups"] for _, records in measured]),
    )
    for name, records in measured:
        if records["kgroups"]["warned"]:
            yield Figure(f"  {name}: contiguity", records["kgroups"]["contiguity"])


def _share(records: Sequence[Record]) -> float:
    return statistics.fmean(one["warned"] for one in records)


NUMBERS: Mapping[str, int] = {
    "contiguity": 1,
    "separation": -1,
    "dispersion": 1,
    "sparsity": -1,
    "agreement": -1,
}
"""The numbers that were tried, and whether a continuum has more of them (1) or less."""


def roc(name: str, continuum: Sequence[Record], planted: Sequence[Record]) -> tuple[float, float]:
    """Return the AUC of a number, and the share of the continuum beyond 95 % of planted graphs.

    Graphs that do not have the number are like the planted ones that have least of it.
    """
    here, there = (_values(name, records) for records in (continuum, planted))
    above = (here[:, np.newaxis] > there).mean() + 0.5 * (here[:, np.newaxis] == there).mean()
    return float(above), float((here > np.quantile(there, 1.0 - _FALSE_ALARMS)).mean())


def _values(name: str, records: Sequence[Record]) -> Floats:
    lowest = -np.finfo(float).max
    values = [one[name] for one in records]
    return np.array([lowest if x is None else NUMBERS[name] * x for x in values])


def roc_lines(measured: Mapping[str, Measured]) -> Iterator[list[str]]:
    """Yield a line for each number."""
    continuum, planted = (
        [records["kgroups"] for _, records in measured[part]] for part in ("continuum", "planted")
    )
    continuum = [one for one in continuum if one["k"] > 1]
    for name in NUMBERS:
        if continuum and planted:
            auc, share = roc(name, continuum, planted)
            yield [name, f"{auc:.3f}", f"{share:.3f}"]


# --- The command ---------------------------------------------------------------------------------

_MEASURES: Mapping[str, Callable[[Row, int], Record]] = {"kgroups": on_graph(measured)}
PARTS = {
    "continuum": Part(CONTINUUM, 20, _MEASURES, COLUMNS, line, continuum_figures),
    "planted": Part(PLANTED, 20, _MEASURES, COLUMNS, line, planted_figures),
    "real": Part(REAL, 1, _MEASURES, COLUMNS, line, real_figures),
}


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.continuum",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=[*PARTS], help="parts")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each line")
    parser.add_argument("--graphs", type=int, default=20, help="drawn of each kind")
    parser.add_argument(
        "--journal", type=Path, help="append what is measured to this file, and resume from it"
    )
    table.add_markdown_option(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Print the lines of all graphs, then the figures; return whether all bars are met."""
    options = _arguments(arguments)
    print(f"{table.setting()}; seeds from {options.seed} on")
    kg.warm(progress=False)
    kept, all_measured, figures = Kept(options.journal), {}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KGroupsWarning)
        for name in options.only:
            part = PARTS[name]
            graphs = options.graphs if part.graphs > 1 else 1
            seeds = range(options.seed, options.seed + graphs)
            all_measured[name] = measure_part(name, part, kept, seeds)
            figures += part.figures(all_measured[name]) if all_measured[name] else ()
    print()
    lines = [table.header(FIGURES), *(figure.cells() for figure in figures)]
    for one in lines:
        table.print_line(one, FIGURES)
    if all_measured.get("continuum") and all_measured.get("planted"):
        print()
        table.print_line(table.header(ROC_COLUMNS), ROC_COLUMNS)
        for one in roc_lines(all_measured):
            table.print_line(one, ROC_COLUMNS)
    judged = [figure for figure in figures if figure.bar is not None]
    print(f"\n{sum(figure.met for figure in judged)} of {len(judged)} bars met")
    if options.markdown:
        blocks = [table.markdown(lines), f"Shares of graphs. {table.setting()}."]
        table.write_markdown(options.markdown, blocks, [])
    return all(figure.met for figure in judged)


if __name__ == "__main__":
    sys.exit(not main())
