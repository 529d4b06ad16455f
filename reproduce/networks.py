"""``real``, ``drosophila`` and ``grqc``: the paper's networks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kgroups import datasets, metrics, scoring
from kgroups._types import SelfLoops
from kgroups.adapters import as_graph
from kgroups.datasets import Dataset
from kgroups.detect import detect_communities, refine_partition
from kgroups.graph import Graph
from kgroups.hartigan import KMeansInit
from kgroups.partition import Partition
from kgroups.search import Spectral
from kgroups.spectrum import estimate_k
from kgroups.studies import PAPER_UNIFORM, TrialContext, spectral_labels
from reproduce.published import COMMUNITY_SCORES, OVERLAPS, Scored
from reproduce.results import LEGEND, Claim, Finding, Measured, counted, measured, with_progress

_COLUMNS = (
    "paper", "like paper", "default", "Bethe, paper", "Bethe, raw", "Bethe", "on A, paper", "on A",
    "verdict",
)  # fmt: skip
# Starts of k-means on each network.
_TRIALS = 20
_RAW = KMeansInit(rows="raw")


@dataclass(frozen=True)
class _Network:
    """A network of the paper, its number of communities, and the known labels, if any."""

    name: str
    k: int
    labels: str | None = None
    self_loops: SelfLoops = "drop"

    def load(self) -> Dataset | None:
        """Return the network, or None if its files are absent."""
        present = {info.name for info in datasets.describe() if info.present}
        return datasets.load(self.name) if self.name in present else None

    def found(self, graph: Graph, trial: int) -> dict[str, Any]:
        """Return the communities that each method finds."""

        def detected(**options: Any) -> Partition:
            return detect_communities(
                graph, self.k, weight=None, self_loops=self.self_loops, rng=trial, **options
            )

        # The paper's method uses eigenvectors, however large the graph.
        start = detected(init=_RAW, refine=None, method=Spectral("exact"))
        settings = refine_partition(
            graph, start, weight=None, refine=PAPER_UNIFORM, self_loops=self.self_loops
        )
        return {
            "settings": settings,
            "default": detected(),
            "bethe raw": start,
            "bethe": detected(refine=None, method=Spectral("exact")),
            "spectral": spectral_labels(TrialContext(graph, graph, self.k, trial)),
        }


_REAL = (
    _Network("karate", 2, "faction"),
    _Network("dolphins", 2, "group"),
    _Network("football", 12, "conference"),
    _Network("polbooks", 3, "leaning"),
)
_DROSOPHILA = (_Network("drosophila_left", 2), _Network("drosophila_right", 2))
_GRQC = (_Network("ca-GrQc", 165, self_loops="keep"),)
_SIZES = {"drosophila_left": [116, 93], "drosophila_right": [112, 101]}


def real(trials: int | None = None, **running: Any) -> Finding:
    """Compare communities with known groups."""
    trials = trials or _TRIALS
    lines, short = [], []
    for network in with_progress(_REAL, running.get("progress", False)):
        data = network.load()
        paper = OVERLAPS[network.name]
        if data is None or network.labels is None:
            lines.append(_absent((network.name,)))
            continue
        truth = data.labels[network.labels]
        scores = [
            {name: metrics.overlap(truth, z) for name, z in network.found(graph, trial).items()}
            for graph in [as_graph(data.graph, weight=None)]
            for trial in range(trials)
        ]
        means = {name: measured([score[name] for score in scores]) for name in scores[0]}
        verdict = printed_verdict(means["settings"].mean, paper["kgroups"], digits=2)
        if verdict == "below":
            short.append(network.name)
        lines.append((network.name, *_entries(paper, means), verdict))
    return Finding(
        "real",
        "overlap with the known groups of real networks",
        f"k is given; {counted(trials, 'start')} of k-means each. The paper's settings: the lowest "
        f"eigenvectors of H_r as they are, uniform weights, no guard. {LEGEND}",
        ("network", *_COLUMNS),
        tuple(lines),
        (_reached_claim(short, len(lines) - _absences(lines), "network"),),
    )


def drosophila(trials: int | None = None, **running: Any) -> Finding:
    """Find the communities of both hemispheres of a fly's brain."""
    trials = trials or _TRIALS
    lines, claims = _scored(_DROSOPHILA, trials, running)
    for network in _DROSOPHILA:
        data = network.load()
        if data is not None:
            graph = as_graph(data.graph, weight=None)
            sizes = network.found(graph, 0)["settings"].sizes.tolist()
            claims.append(
                Claim(f"sizes of {network.name} are {_SIZES[network.name]}",
                      sizes == _SIZES[network.name], f"{sizes}")
            )  # fmt: skip
    return Finding(
        "drosophila",
        "communities of the drosophila connectome",
        f"k = 2; {counted(trials, 'start')} of k-means each; settings as for real networks. "
        f"{LEGEND}",
        ("network", "score", *_COLUMNS),
        tuple(lines),
        tuple(claims),
        None,
        {"drosophila": lambda: _picture(_DROSOPHILA[0])},
    )


def grqc(trials: int | None = None, **running: Any) -> Finding:
    """Find the communities of the collaborations in general relativity."""
    trials = trials or 1
    lines, claims = _scored(_GRQC, trials, running)
    data = _GRQC[0].load()
    figures: dict[str, Callable[[], Any]] = {}
    if data is not None:
        k = estimate_k(data.graph, weight=None, self_loops="keep").k
        claims.append(Claim("the spectrum shows 165 communities", k == 165, f"{k}"))
        by_default = [line[4].mean > line[2] for line in lines]
        claims.append(
            Claim("by default above the paper in all three scores", all(by_default),
                  f"{sum(by_default)} of 3")
        )  # fmt: skip
        figures["grqc"] = lambda: _picture(_GRQC[0])
    return Finding(
        "grqc",
        "communities of collaborations in general relativity",
        f"k = 165, self-loops kept; {counted(trials, 'start')} of k-means; settings as for real "
        f"networks. {LEGEND}",
        ("network", "score", *_COLUMNS),
        tuple(lines),
        tuple(claims),
        None,
        figures,
    )


def _scored(
    networks: tuple[_Network, ...], trials: int, running: dict[str, Any]
) -> tuple[list[tuple[Any, ...]], list[Claim]]:
    """Return a line per network and score, and the claim that the paper's values are reached."""
    lines: list[tuple[Any, ...]] = []
    short = []
    for network in with_progress(networks, running.get("progress", False)):
        data = network.load()
        if data is None:
            lines.append(_absent((network.name, "")))
            continue
        graph = as_graph(data.graph, weight=None)
        scores = [
            {name: scoring.scores(graph, z, weight=None) for name, z in found.items()}
            for found in (network.found(graph, trial) for trial in range(trials))
        ]
        for score in Scored._fields:
            paper = {
                name: getattr(printed, score)
                for name, printed in COMMUNITY_SCORES[network.name].items()
            }
            means = {
                name: measured([getattr(each[name], score) for each in scores])
                for name in scores[0]
            }
            digits = 3 if score == "modularity" and network.name.startswith("drosophila") else 2
            verdict = printed_verdict(means["settings"].mean, paper["kgroups"], digits=digits)
            if verdict == "below":
                short.append(f"{score} of {network.name}")
            lines.append((network.name, score, *_entries(paper, means), verdict))
    return lines, [_reached_claim(short, len(lines) - _absences(lines), "score")]


def _entries(paper: dict[str, float], means: dict[str, Measured]) -> tuple[Any, ...]:
    return (
        paper["kgroups"],
        means["settings"],
        means["default"],
        paper["bethe"],
        means["bethe raw"],
        means["bethe"],
        paper["spectral"],
        means["spectral"],
    )


def printed_verdict(mean: float, paper: float, *, digits: int) -> str:
    """Compare a mean, rounded to the digits of the paper, with the printed value."""
    rounded = round(mean, digits)
    if rounded == paper:
        return "reproduced"
    return "above" if rounded > paper else "below"


def _reached_claim(short: list[str], total: int, what: str) -> Claim:
    seen = f"{total - len(short)} of {total}" + (f"; below in {', '.join(short)}" if short else "")
    sentence = f"in the paper's settings every {what} reaches the printed digits"
    return Claim(sentence, total > 0 and not short, seen)


_ABSENT = "not run: its files are not here (`kgroups datasets`)"


def _absent(start: tuple[str, ...]) -> tuple[Any, ...]:
    return (*start, *[None] * (len(_COLUMNS) - 1), _ABSENT)


def _absences(lines: list[tuple[Any, ...]]) -> int:
    return sum(line[-1] == _ABSENT for line in lines)


def _picture(network: _Network) -> Any:
    """Return a drawing of the communities in the paper's settings."""
    from matplotlib.figure import Figure

    data = network.load()
    if data is None:
        return Figure()
    graph = as_graph(data.graph, weight=None)
    partition = network.found(graph, 0)["settings"]
    figure = Figure(figsize=(7.0, 5.4), layout="constrained")
    partition.plot(figure.subplots(), title=f"{network.name}: {network.k} communities")
    return figure
