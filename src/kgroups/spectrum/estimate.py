"""The number of communities that the spectrum shows, and how certain it is."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups._csr import connected_components
from kgroups._types import CSR, SelfLoops, Symmetrize
from kgroups._validation import check_choice, check_integer, check_real
from kgroups._wording import counted
from kgroups.adapters import as_graph, is_stored
from kgroups.errors import (
    CrowdedThresholdWarning,
    DisassortativeWarning,
    InputError,
    KGroupsWarning,
    warn_caller,
)
from kgroups.graph import Graph
from kgroups.spectrum.count import (
    ComponentCounts,
    Layout,
    count_on,
    eigenvalues_around_one,
    gap_of,
    lowest_of,
    warnings_of,
)
from kgroups.spectrum.eigenpairs import PartialEigenpairsError, rough_top
from kgroups.spectrum.operators import (
    R_CHOICES,
    BetheHessian,
    BoundOperator,
    Operator,
    above_threshold,
    check_operator,
)


@dataclass(frozen=True)
class Spectrum:
    """What the eigenvalues of N_r say about the number of communities.

    Attributes
    ----------
    k : int
        Number of eigenvalues of N_r above 1, which equals that of the negative ones of H_r.
    k_low, k_high : int
        Equal if ``k`` is exact, else a range in which the number should lie.
    is_exact : bool
        Whether ``k`` is exact; always so up to 5,000 nodes.
    r : float or None
        The parameter used; None for another operator than the Bethe Hessian.
    r_choice : str or None
        The rule that gave it, or "given".
    eigenvalues : tuple of float
        Consecutive eigenvalues of N_r around 1, in decreasing order: all above 1 if they are
        at most 50, else the nearest 12, and up to 6 below. Empty if ``k`` is an estimate.
    gap : float
        From the last eigenvalue above 1 to the first below; from 1 itself where one is missing.
    k_at, r_at : dict
        k and r under each of the three rules for the Bethe Hessian; the spread of k shows its
        uncertainty.
    exact_at : dict
        Whether k under each rule is exact, and not an estimate.
    below_minus_one : int
        Number of eigenvalues below -1: groups whose nodes avoid one another. There is a warning
        if the lowest is below -1.02, farther than in random graphs. On graphs of more than 5,000
        nodes the number is a lower bound.
    methods : dict
        How many components were counted by which method.
    warnings : tuple of KGroupsWarning
        Reasons to doubt k; :func:`kgroups.estimate_k` issues them too.
    """

    k: int
    r: float | None
    r_choice: str | None
    eigenvalues: tuple[float, ...]
    gap: float
    k_at: dict[str, int] = field(hash=False)
    r_at: dict[str, float] = field(hash=False)
    below_minus_one: int
    methods: dict[str, int] = field(hash=False)
    k_low: int
    k_high: int
    exact_at: dict[str, bool] = field(hash=False)
    warnings: tuple[KGroupsWarning, ...] = field(default=(), compare=False)

    @property
    def is_exact(self) -> bool:
        """Whether ``k`` is the number of eigenvalues, and not an estimate of it."""
        return self.k_low == self.k_high

    @property
    def shown_above(self) -> int:
        """Number of the eigenvalues listed that are above 1."""
        return int(np.count_nonzero(above_threshold(np.array(self.eigenvalues))))

    @property
    def shown_k_at(self) -> dict[str, str]:
        """Return k under each rule as text, with the word "about" before estimates."""
        return {
            choice: f"{k}" if self.exact_at[choice] else f"about {k}"
            for choice, k in self.k_at.items()
        }

    def __repr__(self) -> str:
        parameter = "" if self.r is None else f"r = {self.r:.4g} ({self.r_choice}), "
        at = ", ".join(f"{choice} {k}" for choice, k in self.shown_k_at.items())
        about = "" if self.is_exact else f", an estimate between {self.k_low} and {self.k_high}"
        found = counted(self.k, "community", "communities") if self.k else "no communities"
        lines = [
            f"Spectrum(shows {found}{about})",
            f"  k by rule for r: {at}",
            f"  {parameter}gap at 1: {self.gap:.3g}",
        ]
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
        lines[1:1] = [f"  {type(warning).__name__}: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values that JSON can hold."""
        warnings = [{"kind": type(each).__name__, "message": str(each)} for each in self.warnings]
        values = {"eigenvalues": list(self.eigenvalues), "warnings": warnings}
        return {**asdict(self), "is_exact": self.is_exact, **values}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Spectrum":
        """Return the spectrum from what :meth:`to_dict` returned, validated."""
        kinds = {kind.__name__: kind for kind in (CrowdedThresholdWarning, DisassortativeWarning)}

        def whole(name: str, value: Any) -> int:
            return check_integer(f"spectrum.{name}", value, low=0)

        def real(name: str, value: Any) -> float:
            return check_real(f"spectrum.{name}", value)

        def by_name(name: str, check: Callable[[str, Any], Any]) -> dict[str, Any]:
            return {key: check(name, value) for key, value in values[name].items()}

        r, r_choice, exact_at = values["r"], values["r_choice"], dict(values["exact_at"])
        counts = ("k", "k_low", "k_high", "below_minus_one")
        spectrum = cls(
            **{name: whole(name, values[name]) for name in counts},
            r=None if r is None else real("r", r),
            r_choice=None if r_choice is None else str(r_choice),
            eigenvalues=tuple(real("eigenvalues", value) for value in values["eigenvalues"]),
            gap=real("gap", values["gap"]),
            k_at=by_name("k_at", whole),
            r_at=by_name("r_at", real),
            exact_at=exact_at,
            methods=by_name("methods", whole),
            warnings=tuple(
                kinds.get(entry["kind"], KGroupsWarning)(str(entry["message"]))
                for entry in values["warnings"]
            ),
        )
        same_rules = spectrum.k_at.keys() == spectrum.r_at.keys() == exact_at.keys()
        if not same_rules or not all(type(exact) is bool for exact in exact_at.values()):
            msg = "spectrum.k_at, r_at and exact_at must hold a value for the same rules."
            raise InputError(msg)
        return spectrum


def estimate_k(
    graph: Any,
    *,
    weight: str | None = "weight",
    operator: Operator = BetheHessian(),
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
    graph : graph-like or StoredGraph
        Anything that :func:`kgroups.as_graph` takes, or a stored graph, which takes no other
        arguments.
    weight : str or None
        Edge attribute that holds the weights; ``None`` ignores them.
    operator : BetheHessian or another Operator
        The operator, by default with r the square root of the mean degree.
    source, target : str, optional
        Columns that hold the ends of the edges, where the graph is a table.
    symmetrize : {"sum", "union"} or None
        How to make a directed graph undirected.
    self_loops : {"drop", "keep"}
        Kept self-loops are entries of the diagonal of A, and count once in the degree.

    Returns
    -------
    Spectrum
        ``.k`` is the estimate. 0 means that there is no structure at all, 1 a single community.

    Notes
    -----
    Up to 5,000 nodes the count is exact. Components with at most one cycle have no eigenvalue
    above 1. Small graphs are solved densely. Elsewhere the 2-core of each component is factorized,
    and the signs of the pivots give the count (Sylvester's law of inertia). Where that is too much
    work, a Chebyshev filter finds the eigenvectors above 1, and a block of random vectors verifies
    that none is left. Where an eigenvalue is too close to 1 to be decided, or there are too many
    of them to be found, ``.is_exact`` is False and ``.k`` an estimate.

    Of components of a stored graph that do not fit in memory, moments of the spectrum give an
    estimate in about ten to thirty passes. It is rough, as ``.k_low`` and ``.k_high`` show; there
    are no eigenvalues, and r is chosen by the mean degree of the largest component alone.

    Examples
    --------
    >>> import networkx as nx
    >>> spectrum = estimate_k(nx.karate_club_graph(), weight=None)
    >>> spectrum.k
    2
    >>> spectrum.k_at
    {'mean-degree': 2, 'second-moment': 2, 'nonbacktracking': 2}
    """
    check_operator(operator)
    check_choice("self_loops", self_loops, ("drop", "keep"))
    columns = {"weight": weight, "source": source, "target": target}
    spectrum: Spectrum
    if is_stored(graph):
        options = {"operator": operator, "symmetrize": symmetrize, "self_loops": self_loops}
        spectrum = graph._estimated_spectrum(**columns, **options)
    else:
        given = as_graph(graph, **columns, symmetrize=symmetrize)
        spectrum = spectrum_of_graph(given, operator, self_loops)
    warn_caller(spectrum.warnings)
    return spectrum


def spectrum_of_graph(
    graph: Graph, operator: Operator = BetheHessian(), self_loops: SelfLoops = "drop"
) -> Spectrum:
    """Return the spectrum of a graph; its warnings are not issued."""
    adjacency = graph.simple_adjacency(loops=self_loops == "keep")
    with single_threaded(graph.n):
        hessian = operator.bind(adjacency, weighted=graph.is_weighted)
        return spectrum_of(hessian, adjacency, weighted=graph.is_weighted)


def spectrum_of(
    hessian: BoundOperator,
    adjacency: CSR,
    *,
    weighted: bool,
    counts: ComponentCounts | None = None,
) -> Spectrum:
    """Return the spectrum of an operator bound to an adjacency matrix; counts may be given."""
    if counts is None:
        _, labels = connected_components(adjacency)
        counts = count_on(hessian, Layout(hessian, labels), sign=1, with_next=True)
    k_at: dict[str, int] = {}
    r_at: dict[str, float] = {}
    exact_at: dict[str, bool] = {}
    for choice in R_CHOICES:
        counted, r = counts, hessian.r
        if choice != hessian.r_choice or r is None:
            other = BetheHessian(choice).bind(adjacency, weighted=weighted)
            counted, r = count_on(other, counts.layout, sign=1, near=counts), other.r
        k_at[choice], r_at[choice], exact_at[choice] = counted.total, r, counted.is_exact
    values = eigenvalues_around_one(hessian, counts)
    below_minus_one, lowest = _below_minus_one(hessian, counts)
    return Spectrum(
        k=counts.total,
        k_low=int(counts.k_low.sum()),
        k_high=int(counts.k_high.sum()),
        r=hessian.r,
        r_choice=hessian.r_choice,
        eigenvalues=tuple(values.tolist()),
        gap=gap_of(values),
        k_at=k_at,
        r_at=r_at,
        exact_at=exact_at,
        below_minus_one=below_minus_one,
        methods=dict(Counter(counts.method)),
        warnings=warnings_of(counts.total, values, below_minus_one, lowest, k_at),
    )


def _below_minus_one(hessian: BoundOperator, counts: ComponentCounts) -> tuple[int, float]:
    """Return how many eigenvalues are below -1, and the lowest where there are some."""
    if counts.all_known:
        return lowest_of(np.concatenate([np.zeros(0), *counts.known]))
    mirrored = count_on(hessian, counts.layout, sign=-1)
    lowest = 0.0
    for a in np.flatnonzero(mirrored.k).tolist():
        known = mirrored.known[a]
        if known.size:
            lowest = min(lowest, -float(known[0]))
            continue
        try:
            lowest = min(lowest, -rough_top(counts.layout.part(hessian, a), sign=-1))
        except PartialEigenpairsError:
            # It is certainly below -1, but how far is unknown.
            lowest = min(lowest, -1.0)
    return mirrored.total, lowest
