"""``init``: kernel k-groups needs a good start on sparse graphs."""

from typing import Any

import numpy as np

from kgroups._types import Ints
from kgroups.detect import refine_partition
from kgroups.generators import planted_partition
from kgroups.graph import Graph
from kgroups.operators import BetheHessian
from kgroups.reproduce.findings import Claim, Finding, counted, measured
from kgroups.studies import sweep
from kgroups.studies.methods import PAPER_GRAM

__all__ = ["from_plus_plus", "from_random", "init", "nearest_of_drawn"]

_TRIALS = 20
_NODES, _GROUPS = 1_000, 5
_HARD, _BETWEEN, _EASY = ((3.0, 1.2), (3.0, 1.5)), ((10.0, 3.0),), ((30.0, 5.0),)
_GAP = 0.2


def from_random(graph: Graph, k: int, rng: np.random.Generator) -> Any:
    """Refine random labels in the paper's settings."""
    labels = rng.integers(k, size=graph.n)
    labels[rng.permutation(graph.n)[:k]] = np.arange(k)
    return refine_partition(graph, labels, refine=PAPER_GRAM)


def from_plus_plus(graph: Graph, k: int, rng: np.random.Generator) -> Any:
    """Refine, in the paper's settings, nearest centres that k-means++ draws from the rows of H_r.

    H_r has negative eigenvalues, so that it is no Gram matrix to take distances from; its rows
    are points, whose distances always are.
    """
    rows = BetheHessian().matrix(graph).toarray()
    return refine_partition(graph, nearest_of_drawn(rows, k, rng), refine=PAPER_GRAM)


def nearest_of_drawn(rows: Any, k: int, rng: np.random.Generator) -> Ints:
    """Assign points to the nearest of ``k`` of them, drawn by k-means++."""
    n = len(rows)
    centres = [int(rng.integers(n))]
    distances = [np.square(rows - rows[centres[0]]).sum(axis=1)]
    for _ in range(1, k):
        nearest = np.min(distances, axis=0)
        centres.append(int(rng.choice(n, p=nearest / nearest.sum())))
        distances.append(np.square(rows - rows[centres[-1]]).sum(axis=1))
    labels: Ints = np.argmin(distances, axis=0).astype(np.int64)
    labels[centres] = np.arange(k)
    return labels


def init(trials: int | None, **running: Any) -> Finding:
    """Compare the starts on sparse graphs near the threshold and on clear ones."""
    trials = trials or _TRIALS
    methods = {
        "random": from_random,
        "k-means++": from_plus_plus,
        "Bethe Hessian": "kgroups-paper",
        "default": "kgroups",
    }
    cases = (*_HARD, *_BETWEEN, *_EASY)
    cells = [{"n": _NODES, "k": _GROUPS, "degree": degree, "snr": snr} for degree, snr in cases]
    study = sweep(planted_partition, cells, methods, trials=trials, **running)
    lines: list[tuple[Any, ...]] = []
    lacking: dict[tuple[float, float], list[float]] = {}
    for degree, snr in cases:
        found = {
            name: measured(study.values("overlap", method=name, degree=degree, snr=snr))
            for name in methods
        }
        lacks = [found["Bethe Hessian"].mean - found[name].mean for name in ("random", "k-means++")]
        lacking[degree, snr] = lacks
        lines.append((degree, snr, *found.values(), _verdict(lacks)))
    least = min(min(lacking[case]) for case in _HARD)
    most = max(max(lacking[case]) for case in _EASY)
    claims = (
        Claim(
            "near the threshold random and k-means++ starts fall far short of the Bethe Hessian",
            least > _GAP,
            f"by {least:.2f} or more",
        ),
        Claim("where degree and λ are large they do not", most <= _GAP, f"by {most:.2f} at most"),
    )
    return Finding(
        "init",
        "mean overlap of kernel k-groups from different starts",
        f"n = {_NODES}, k = {_GROUPS}, {counted(trials, 'graph')} each; M = -D H_r D, weights D.",
        ("degree", "λ", *methods, "verdict"),
        tuple(lines),
        claims,
        study,
    )


def _verdict(lacks: list[float]) -> str:
    if min(lacks) > _GAP:
        return "only the Bethe Hessian will do"
    return "any start will do" if max(lacks) <= _GAP else "some starts will do"
