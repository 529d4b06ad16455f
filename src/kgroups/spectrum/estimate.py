"""The number of communities that the spectrum shows, and how sure it is."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._doors import check_choice
from kgroups._types import CSR, Ints, SelfLoops, Symmetrize
from kgroups.errors import KGroupsWarning
from kgroups.operators import BetheHessian, BoundBetheHessian
from kgroups.operators.bethe_hessian import R_CHOICES
from kgroups.spectrum.components import connected_components
from kgroups.spectrum.count import ComponentCounts, count_components

__all__ = ["Spectrum", "estimate_k", "spectrum_of"]


@dataclass(frozen=True)
class Spectrum:
    """What the spectrum of N_r says about the number of communities."""

    k: int
    r: float
    r_choice: str
    eigenvalues: tuple[float, ...]
    gap: float
    k_at: dict[str, int]
    r_at: dict[str, float]
    below_minus_one: int
    methods: dict[str, int]
    warnings: tuple[KGroupsWarning, ...] = ()


def spectrum_of(
    bound: BoundBetheHessian,
    adjacency: CSR,
    *,
    weighted: bool,
    labels: Ints | None = None,
    counts: ComponentCounts | None = None,
) -> Spectrum:
    """Return the spectrum of a bound operator; what is already known can be handed in."""
    if labels is None:
        _, labels = connected_components(adjacency)
    if counts is None:
        counts = count_components(bound, labels)
    k_at, r_at = {}, {}
    for choice in R_CHOICES:
        if choice == bound.r_choice:
            k_at[choice], r_at[choice] = counts.total, bound.r
            continue
        other = BetheHessian(choice).bind(adjacency, weighted=weighted)
        k_at[choice], r_at[choice] = count_components(other, labels).total, other.r
    known = counts.eigenvalues
    above, below = known[known > 1.0], known[known <= 1.0]
    gap = float(above[-1] - below[0]) if above.size and below.size else 0.0
    shown = np.concatenate([above[-50:], below[:4]])
    return Spectrum(
        k=counts.total,
        r=bound.r,
        r_choice=bound.r_choice,
        eigenvalues=tuple(shown.tolist()),
        gap=gap,
        k_at=k_at,
        r_at=r_at,
        below_minus_one=0,
        methods=dict(Counter(counts.method)),
    )


def estimate_k(
    G: Any,
    *,
    weight: str | None = "weight",
    operator: BetheHessian = BetheHessian(),
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
) -> Spectrum:
    """Estimate the number of communities of a graph."""
    from kgroups.adapters import as_graph

    check_choice("self_loops", self_loops, ("drop", "keep"))
    graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    adjacency = graph.simple_adjacency(loops=self_loops == "keep")
    bound = operator.bind(adjacency, weighted=graph.is_weighted)
    return spectrum_of(bound, adjacency, weighted=graph.is_weighted)
