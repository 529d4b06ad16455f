"""``python benchmarks/paper.py``: the real networks of the paper, its figures beside ours.

*Paper's settings* are raw rows, uniform weights, all communities as candidates and no guard;
*defaults* are what ``detect_communities(graph, k)`` does. k is given, as in the paper.
Networks with labels show the overlap, the others performance, coverage, modularity and, where
there are two communities, their sizes.
"""

from dataclasses import dataclass

import kgroups as kg

SEED = kg.KMeansSeed(rows="raw")
REFINE = kg.Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None)


@dataclass(frozen=True)
class Case:
    """A network, the labels it is compared with (None: no labels), and the paper's figures."""

    name: str
    k: int
    labels: str | None
    printed: str
    self_loops: str = "drop"


CASES = (
    Case("karate", 2, "faction", "overlap 1.00"),
    Case("dolphins", 2, "group", "overlap 1.00"),
    Case("football", 12, "conference", "overlap 0.90"),
    Case("polbooks", 3, "leaning", "overlap 0.75"),
    Case("drosophila_left", 2, None, "0.67 0.84 0.041 {116, 93}"),
    Case("drosophila_right", 2, None, "0.66 0.83 0.055 {112, 101}"),
    Case("ca-GrQc", 165, None, "0.86 0.81 0.55", self_loops="keep"),
)


def described(case: Case, data: kg.datasets.Dataset, partition: kg.Partition) -> str:
    """Return the figures that the paper gives for this network."""
    if case.labels is not None:
        return f"overlap {kg.metrics.overlap(data.labels[case.labels], partition.labels):.3f}"
    scores = kg.scoring.scores(data.graph, partition, weight=None)
    text = f"{scores.performance:.3f} {scores.coverage:.3f} {scores.modularity:.3f}"
    return text + (f" {{{', '.join(map(str, partition.sizes))}}}" if case.k == 2 else "")


def main() -> None:
    """Print a row per network that is there."""
    present = {info.name for info in kg.datasets.describe() if info.present}
    header = ("network", "k", "estimate_k", "paper", "paper's settings", "defaults")
    rows = [header]
    for case in CASES:
        if case.name not in present:
            rows.append((case.name, str(case.k), "-", case.printed, "files not found", "-"))
            continue
        data = kg.datasets.load(case.name)
        common = {"weight": None, "self_loops": case.self_loops}
        as_printed = kg.detect_communities(data.graph, case.k, init=SEED, refine=REFINE, **common)
        by_default = kg.detect_communities(data.graph, case.k, **common)
        rows.append(
            (
                case.name,
                str(case.k),
                str(kg.estimate_k(data.graph, **common).k),
                case.printed,
                described(case, data, as_printed),
                described(case, data, by_default),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    main()
