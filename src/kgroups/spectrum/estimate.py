"""The number of communities that the spectrum shows, and how sure it is."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgroups import errors
from kgroups._blas import single_threaded
from kgroups._doors import check_choice
from kgroups._types import CSR, Floats, Ints, SelfLoops, Symmetrize
from kgroups.errors import CrowdedThresholdWarning, DisassortativeWarning, KGroupsWarning
from kgroups.operators import BetheHessian, BoundBetheHessian
from kgroups.operators.bethe_hessian import R_CHOICES
from kgroups.spectrum.components import connected_components
from kgroups.spectrum.count import ComponentCounts, Layout, count_on
from kgroups.spectrum.count_by_filter import NOISE
from kgroups.spectrum.lanczos import PartialEigenpairsError, rough_top
from kgroups.spectrum.threshold import eigenvalues_around_one

__all__ = ["DeferredSpectrum", "Spectrum", "estimate_k", "spectrum_of", "warnings_of"]

_WINDOW = 0.05
_CROWDED_GAP = 0.04
_CROWDED_ABOVE = 3
_CROWDED_BELOW = 1
_RAGGED_EDGE = 0.02


@dataclass(frozen=True)
class Spectrum:
    """What the eigenvalues of N_r say about the number of communities.

    Attributes
    ----------
    k : int
        Number of eigenvalues of N_r above 1, which is that of the negative ones of H_r.
    k_low, k_high : int
        Equal if ``k`` is exact, else a range in which the number should lie.
    is_exact : bool
        Whether ``k`` is the number itself; always so up to 5,000 nodes.
    r : float
        The parameter used.
    r_choice : str
        The rule that gave it, or "given".
    eigenvalues : tuple of float
        Eigenvalues of N_r around 1, falling, none left out in between: all above 1 if they are
        at most 50, else the nearest 12, and up to 6 below. Empty if ``k`` is an estimate.
    gap : float
        From the last eigenvalue above 1 to the first below; from 1 itself where one is missing.
    k_at, r_at : dict
        k and r under each of the three rules, the spread of k being its uncertainty.
    exact_at : dict
        Whether k under each rule is exact, and not an estimate.
    below_minus_one : int
        Number of eigenvalues below -1: groups whose nodes avoid one another. A warning comes
        with it when the lowest is below -1.02, farther than the edge of random graphs strays. At
        least so many on graphs of more than 5,000 nodes.
    methods : dict
        How many components were counted by which method.
    warnings : tuple of KGroupsWarning
        Reasons to doubt k. They are carried, not issued.
    """

    k: int
    r: float
    r_choice: str
    eigenvalues: tuple[float, ...]
    gap: float
    k_at: dict[str, int]
    r_at: dict[str, float]
    below_minus_one: int
    methods: dict[str, int]
    k_low: int
    k_high: int
    exact_at: dict[str, bool]
    warnings: tuple[KGroupsWarning, ...] = field(default=(), compare=False)

    @property
    def is_exact(self) -> bool:
        """Whether ``k`` is the number of eigenvalues, and not an estimate of it."""
        return self.k_low == self.k_high

    @property
    def shown_above(self) -> int:
        """Number of the eigenvalues listed that are above 1."""
        return sum(value > 1.0 + NOISE for value in self.eigenvalues)

    @property
    def shown_k_at(self) -> dict[str, str]:
        """Return k under each rule as text, with the word "about" before estimates."""
        return {
            choice: f"{k}" if self.exact_at[choice] else f"about {k}"
            for choice, k in self.k_at.items()
        }

    def __repr__(self) -> str:
        at = ", ".join(f"{choice} {k}" for choice, k in self.shown_k_at.items())
        about = "" if self.is_exact else f", an estimate between {self.k_low} and {self.k_high}"
        lines = [
            f"Spectrum(k={self.k}{about}, r={self.r:.4g} ({self.r_choice}), gap={self.gap:.3g})"
        ]
        lines.append(f"  k by rule for r: {at}")
        if self.eigenvalues:
            shown = [f"{value:.3f}" for value in self.eigenvalues]
            above = self.shown_above
            first = max(0, above - 5)
            left = "... " if first or above < self.k else ""
            lines.append(
                f"  eigenvalues of N_r: {left}{' '.join(shown[first:above])} | 1 | "
                f"{' '.join(shown[above : above + 3])}"
            )
        if self.below_minus_one:
            lines.append(f"  eigenvalues below -1: {self.below_minus_one}")
        lines.extend(f"  {type(warning).__name__}: {warning}" for warning in self.warnings)
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that JSON can hold."""
        return {
            "k": self.k,
            "k_low": self.k_low,
            "k_high": self.k_high,
            "is_exact": self.is_exact,
            "r": self.r,
            "r_choice": self.r_choice,
            "eigenvalues": list(self.eigenvalues),
            "gap": self.gap,
            "k_at": dict(self.k_at),
            "r_at": dict(self.r_at),
            "exact_at": dict(self.exact_at),
            "below_minus_one": self.below_minus_one,
            "methods": dict(self.methods),
            "warnings": [
                {"kind": type(warning).__name__, "message": str(warning)}
                for warning in self.warnings
            ],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Spectrum":
        """Return the spectrum that :meth:`to_dict` wrote down."""
        warnings = []
        for entry in values["warnings"]:
            kind = getattr(errors, entry["kind"], KGroupsWarning)
            known = isinstance(kind, type) and issubclass(kind, KGroupsWarning)
            warnings.append((kind if known else KGroupsWarning)(entry["message"]))
        return cls(
            k=int(values["k"]),
            k_low=int(values.get("k_low", values["k"])),
            k_high=int(values.get("k_high", values["k"])),
            r=float(values["r"]),
            r_choice=str(values["r_choice"]),
            eigenvalues=tuple(float(value) for value in values["eigenvalues"]),
            gap=float(values["gap"]),
            k_at={str(name): int(k) for name, k in values["k_at"].items()},
            r_at={str(name): float(r) for name, r in values["r_at"].items()},
            exact_at={
                str(name): bool(values.get("exact_at", {}).get(name, True))
                for name in values["k_at"]
            },
            below_minus_one=int(values["below_minus_one"]),
            methods={str(name): int(count) for name, count in values["methods"].items()},
            warnings=tuple(warnings),
        )


def estimate_k(
    G: Any,
    *,
    weight: str | None = "weight",
    operator: BetheHessian = BetheHessian(),
    source: str | None = None,
    target: str | None = None,
    symmetrize: Symmetrize | None = None,
    self_loops: SelfLoops = "drop",
) -> Spectrum:
    r"""Estimate the number of communities of a graph from the spectrum of its Bethe Hessian.

    .. math:: \hat k = \#\{\text{negative eigenvalues of } H_r\}
        = \#\{\text{eigenvalues of } N_r \text{ above } 1\}

    Parameters
    ----------
    G : graph-like
        Anything that :func:`kgroups.as_graph` takes.
    weight : str or None
        Edge attribute that holds the weights; ``None`` ignores them.
    operator : BetheHessian
        The rule for r, by default the square root of the mean degree.
    source, target : str, optional
        Columns that hold the ends of the edges, where G is a table.
    symmetrize : {"sum", "union"} or None
        How to make a directed graph undirected.
    self_loops : {"drop", "keep"}
        Kept self-loops are entries of the diagonal of A, and count once in the degree.

    Returns
    -------
    Spectrum
        ``.k`` is the estimate. 0 means that no structure was seen at all, 1 a single community.

    Notes
    -----
    Up to 5,000 nodes the count is exact. Components with at most one cycle hold nothing. Small
    graphs are solved densely. Elsewhere the 2-core of each component is factorized, and the signs
    of the pivots give the count (Sylvester's law of inertia). Where that is too much work, a
    Chebyshev filter finds the eigenvectors above 1, and a block of random vectors verifies that
    none is left. Where an eigenvalue is too close to 1 to be decided, or there are
    too many of them to be found, ``.is_exact`` is False and ``.k`` an estimate.

    Examples
    --------
    >>> import networkx as nx
    >>> spectrum = estimate_k(nx.karate_club_graph(), weight=None)
    >>> spectrum.k
    2
    >>> spectrum.k_at
    {'mean-degree': 2, 'second-moment': 2, 'nonbacktracking': 2}
    """
    from kgroups.adapters import as_graph

    check_choice("self_loops", self_loops, ("drop", "keep"))
    graph = as_graph(G, weight=weight, source=source, target=target, symmetrize=symmetrize)
    adjacency = graph.simple_adjacency(loops=self_loops == "keep")
    with single_threaded(graph.n):
        bound = operator.bind(adjacency, weighted=graph.is_weighted)
        return spectrum_of(bound, adjacency, weighted=graph.is_weighted)


@dataclass(frozen=True)
class DeferredSpectrum:
    """How to compute the spectrum of a graph when it is first asked for.

    Attributes
    ----------
    operator : BetheHessian
        The rule for r.
    self_loops : {"drop", "keep"}
        What is done with self-loops.
    """

    operator: BetheHessian = BetheHessian()
    self_loops: SelfLoops = "drop"

    def of(self, graph: Any) -> Spectrum:
        """Return the spectrum of a graph."""
        return estimate_k(graph, operator=self.operator, self_loops=self.self_loops)


def spectrum_of(
    bound: BoundBetheHessian,
    adjacency: CSR,
    *,
    weighted: bool,
    labels: Ints | None = None,
    counts: ComponentCounts | None = None,
) -> Spectrum:
    """Return the spectrum of a bound operator; what is already known can be handed in.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator whose k is wanted.
    adjacency : CSR
        What it was bound to; the other rules for r are bound to it too.
    weighted : bool
        As it was bound.
    labels : ndarray of int, optional
        Connected components.
    counts : ComponentCounts, optional
        What ``count_components(bound, labels)`` gave.

    Returns
    -------
    Spectrum
    """
    if counts is None:
        if labels is None:
            _, labels = connected_components(adjacency)
        counts = count_on(bound, Layout(bound.coupling, labels), sign=1, with_next=True)
    k_at: dict[str, int] = {}
    r_at: dict[str, float] = {}
    exact_at: dict[str, bool] = {}
    for choice in R_CHOICES:
        other, counted = bound, counts
        if choice != bound.r_choice:
            other = BetheHessian(choice).bind(adjacency, weighted=weighted)
            counted = count_on(other, counts.layout, sign=1, near=counts)
        k_at[choice], r_at[choice] = counted.total, other.r
        exact_at[choice] = counted.is_exact
    values = eigenvalues_around_one(bound, counts)
    below_minus_one, lowest = _below_minus_one(bound, counts)
    gap = _gap(values)
    return Spectrum(
        k=counts.total,
        k_low=int(counts.k_low.sum()),
        k_high=int(counts.k_high.sum()),
        r=bound.r,
        r_choice=bound.r_choice,
        eigenvalues=tuple(values.tolist()),
        gap=gap,
        k_at=k_at,
        r_at=r_at,
        exact_at=exact_at,
        below_minus_one=below_minus_one,
        methods=dict(Counter(counts.method)),
        warnings=_warnings(counts.total, values, below_minus_one, lowest, k_at),
    )


def warnings_of(counts: ComponentCounts) -> tuple[KGroupsWarning, ...]:
    """Return the reasons to doubt k that counting has shown; none unless all was solved densely."""
    if not _all_known(counts):
        return ()
    values = np.sort(np.concatenate([np.zeros(0), *counts.known]))[::-1]
    return _warnings(counts.total, values, *_lowest_of(values), None)


def _all_known(counts: ComponentCounts) -> bool:
    return all(name in ("pruned", "dense") for name in counts.method)


def _lowest_of(values: Floats) -> tuple[int, float]:
    """Return how many eigenvalues are below -1, and the lowest, or 0 if that is positive."""
    below = int(np.count_nonzero(values < -1.0 - NOISE))
    return below, float(values.min(initial=0.0))


def _below_minus_one(bound: BoundBetheHessian, counts: ComponentCounts) -> tuple[int, float]:
    """Return how many eigenvalues are below -1, and the lowest where there are some."""
    if _all_known(counts):
        return _lowest_of(np.concatenate([np.zeros(0), *counts.known]))
    mirrored = count_on(bound, counts.layout, sign=-1)
    lowest = 0.0
    for a in np.flatnonzero(mirrored.k).tolist():
        known = mirrored.known[a]
        if known.size:
            lowest = min(lowest, -float(known[0]))
            continue
        try:
            lowest = min(lowest, -rough_top(counts.layout.part(bound, a), sign=-1))
        except PartialEigenpairsError:
            # That it is below -1 is certain; how far is not known.
            lowest = min(lowest, -1.0)
    return mirrored.total, lowest


def _warnings(
    k: int, values: Floats, below_minus_one: int, lowest: float, k_at: dict[str, int] | None
) -> tuple[KGroupsWarning, ...]:
    return (
        *_crowding(k, values, _gap(values), k_at),
        *_disassortativity(below_minus_one, lowest),
    )


def _gap(values: Floats) -> float:
    if values.size == 0:
        return 0.0
    above, below = values[values > 1.0 + NOISE], values[values <= 1.0 + NOISE]
    upper = float(above[-1]) if above.size else 1.0
    lower = float(below[0]) if below.size else 1.0
    return upper - lower


def _crowding(
    k: int, values: Floats, gap: float, k_at: dict[str, int] | None
) -> tuple[KGroupsWarning, ...]:
    """Warn when the threshold cuts through a run of eigenvalues, as on grids and meshes."""
    above = int(np.count_nonzero((values > 1.0 + NOISE) & (values < 1.0 + _WINDOW)))
    below = int(np.count_nonzero((values <= 1.0 + NOISE) & (values > 1.0 - _WINDOW)))
    if above < _CROWDED_ABOVE or below < _CROWDED_BELOW or gap > _CROWDED_GAP:
        return ()
    spread = ""
    if k_at is not None:
        spread = f" The rules for r give k={'/'.join(str(k_at[choice]) for choice in R_CHOICES)}."
    message = (
        f"k={k} is uncertain: at least {above} eigenvalues lie within {_WINDOW} above the "
        f"threshold 1 and at least {below} within {_WINDOW} below, with a gap of {gap:.2g} "
        f"between them.{spread} Grids, meshes and road maps look so without having communities; "
        "give k if you know it."
    )
    return (CrowdedThresholdWarning(message),)


def _disassortativity(count: int, lowest: float) -> tuple[KGroupsWarning, ...]:
    """Warn of eigenvalues below -1, unless they are the ragged edge of the bulk."""
    if lowest > -1.0 - _RAGGED_EDGE:
        return ()
    plural = "s" if count > 1 else ""
    message = (
        f"{count} eigenvalue{plural} of N_r below -1, the lowest at {lowest:.3f}: there are groups "
        "whose nodes avoid one another and link to other groups instead, as in bipartite graphs. "
        "Communities of nodes that link to one another do not show this structure."
    )
    return (DisassortativeWarning(message),)
