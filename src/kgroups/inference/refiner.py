"""Belief propagation as a method that infers marginals, and refines labels by them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import CSR, Floats, Ints
from kgroups._validation import check_choice, check_integer, check_real
from kgroups.inference.propagation import (
    Beliefs,
    Inferred,
    Learning,
    Rates,
    Schedule,
    block_model,
    contrast,
    planted_rates,
    propagate,
    rates_of_labels,
)
from kgroups.multilevel import Level, explicit_weights, finest_level
from kgroups.operators import BetheHessian, BoundBetheHessian, degrees_are_uneven
from kgroups.refine import Refinement, RefinementProblem, planted_fit

__all__ = [
    "BeliefPropagation",
    "Degrees",
    "ObservedGraph",
    "better_fit",
    "infer_at_rates",
    "known_rates",
    "model_in_words",
    "observed_graph",
]

Degrees: TypeAlias = Literal["auto", "corrected", "uniform"]

# Signal-to-noise ratio at which planted rates start at least, and which they keep: communities
# can be detected above 1, and below it all messages become equal and stay so.
_FIRST_RATIO = 1.15
_LEAST_RATIO = 1.05
# Relative change of a rate at which learning ends.
_RATE_TOLERANCE = 1e-3


class ObservedGraph(NamedTuple):
    """A graph as belief propagation takes it.

    Attributes
    ----------
    level : Level
        Edges without loops; weights are saturated, in units in which they vary like counts.
    degree_corrected : bool
        Whether rates stand on top of degrees.
    """

    level: Level
    degree_corrected: bool


def observed_graph(A: CSR, bound: BoundBetheHessian, degrees: Degrees = "auto") -> ObservedGraph:
    """Return the graph of a symmetric matrix; uneven degrees are corrected for by default."""
    edges = without_diagonal(A)
    weighted = bool(np.any(edges.data != edges.data[:1]))
    if weighted:
        edges = without_diagonal(bound.saturated_weights())
    corrected = degrees_are_uneven(edges) if degrees == "auto" else degrees == "corrected"
    level = finest_level(edges, weighted=weighted)
    return ObservedGraph(level._replace(A=explicit_weights(level.A)), corrected)


@dataclass(frozen=True)
class BeliefPropagation:
    r"""Infer communities by belief propagation, with rates of edges learned from the graph.

    Nodes i and j are linked at a rate :math:`\theta_i \theta_j \omega`, where :math:`\omega`
    depends on their communities. From the rates, messages along the edges give each node a
    probability for each community; from these the rates are learned again, and so on.

    Parameters
    ----------
    rates : {"planted", "own"}
        ``"planted"``: one rate inside all communities, and communities of equal expected size.
        ``"own"``: a rate for each community, and sizes learned. Between communities there is one
        rate in both.
    degrees : {"auto", "corrected", "uniform"}
        Whether :math:`\theta` follows the degrees or is the same for all nodes. ``"auto"``
        corrects for degrees if their variance exceeds 1.3 times their mean.
    em_steps : int
        Number of times that rates are learned.
    em_sweeps : int
        Sweeps over all nodes before each of these steps, at most.
    max_sweeps : int
        Sweeps at the rates learned last, at most.
    tolerance : float
        Mean change of a node's probabilities in a sweep at which they have converged.
    softness : float
        Share of each first message that is spread over all communities.

    Notes
    -----
    As a refinement, it replaces labels by those of the largest probability, if their planted
    profile likelihood is higher and no community is empty. It takes O((n + m) k) time a sweep.

    References
    ----------
    .. [1] A. Decelle, F. Krzakala, C. Moore, L. Zdeborova, "Asymptotic analysis of the stochastic
       block model for modular networks and its algorithmic applications", Phys. Rev. E 84, 2011.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> G = nx.planted_partition_graph(2, 30, 0.5, 0.05, seed=0)
    >>> partition = kg.detect_communities(G, 2, refine=kg.BeliefPropagation())
    >>> [len(community) for community in partition]
    [30, 30]
    """

    rates: Literal["planted", "own"] = "planted"
    degrees: Degrees = "auto"
    em_steps: int = 12
    em_sweeps: int = 10
    max_sweeps: int = 100
    tolerance: float = 1e-3
    softness: float = 0.1

    def __post_init__(self) -> None:
        check_choice("rates", self.rates, ("planted", "own"))
        check_choice("degrees", self.degrees, ("auto", "corrected", "uniform"))
        check_integer("em_steps", self.em_steps, low=0)
        for name in ("em_sweeps", "max_sweeps"):
            check_integer(name, getattr(self, name))
        check_real("tolerance", self.tolerance, low=0.0)
        check_real("softness", self.softness, low=0.0, high=1.0)

    @property
    def most_sweeps(self) -> int:
        """Number of sweeps that are never exceeded."""
        return self.em_steps * self.em_sweeps + self.max_sweeps

    def infer(
        self,
        graph: ObservedGraph,
        labels: Ints,
        k: int,
        *,
        alike: bool = False,
        need_all: bool = False,
        progress: Callable[[int], None] = lambda sweeps: None,
    ) -> Inferred:
        """Return the marginals of ``k`` groups that start from labels.

        With ``alike`` the first rates of ``"own"`` are one rate inside all groups, as they are for
        ``"planted"``: those of single groups mean little if the labels have many errors. With
        ``need_all`` it is given up if no node is left in a group after ``em_sweeps`` sweeps.
        """
        n, level = labels.size, graph.level
        if k == 1 or not level.A.indices.size:
            sizes = np.bincount(labels, minlength=k)
            prior = (sizes + 1.0) / (n + k) if self.rates == "own" else np.full(k, 1.0 / max(k, 1))
            rates = Rates(np.ones(k), 1.0, prior)
            return Inferred(np.tile(prior, (n, 1)), rates, 0.0, 0.0, converged=True, sweeps=0)
        model = block_model(level, degree_corrected=graph.degree_corrected)
        if self.rates == "planted" or alike:
            rates, learning = _planted(graph, labels, k)
        else:
            rates = rates_of_labels(model, labels, k)
        if self.rates == "own":
            learning = Learning("own")
        beliefs = Beliefs(model, labels, k, self.softness)
        schedule = Schedule(
            self.em_steps, self.em_sweeps, self.max_sweeps, self.tolerance, _RATE_TOLERANCE
        )
        return propagate(beliefs, rates, learning, schedule, need_all=need_all, progress=progress)

    def refine(self, problem: RefinementProblem, labels: Ints) -> Refinement:
        """Return the labels of largest probability, or the first ones where these fit better."""
        graph = observed_graph(problem.A, problem.bound, self.degrees)
        found = self.infer(graph, labels, problem.k)
        z = np.argmax(found.marginals, axis=1)
        kept = better_fit(graph, z, labels, problem.k)
        return Refinement(
            z=z if kept else labels,
            kept="refined labels" if kept else "first labels",
            objective=found.evidence,
            sweeps=found.sweeps,
            moves=int(np.count_nonzero(z != labels)),
            visits=found.sweeps * problem.A.indices.size,
            converged=found.converged,
            model=model_in_words(self.rates, degree_corrected=graph.degree_corrected),
        )


def model_in_words(rates: str, *, degree_corrected: bool) -> str:
    """Return the block model in words; ``rates`` is "planted" or "own"."""
    densities = "one density" if rates == "planted" else "a density for each community"
    return f"{'degree-corrected' if degree_corrected else 'uniform'}, {densities}"


def infer_at_rates(
    graph: ObservedGraph,
    labels: Ints,
    rates: Rates,
    *,
    max_sweeps: int = 300,
    tolerance: float = 1e-3,
    softness: float = 0.5,
) -> Inferred:
    """Return the marginals at known rates, from labels of a graph with at least one edge."""
    model = block_model(graph.level, degree_corrected=graph.degree_corrected)
    beliefs = Beliefs(model, labels, rates.inside.size, softness)
    schedule = Schedule(0, 0, max_sweeps, tolerance, 0.0)
    return propagate(beliefs, rates, Learning("unchanged"), schedule)


def known_rates(inside: Floats, between: float, sizes: Floats) -> Rates:
    """Return the rates of groups of known sizes whose edges have these probabilities."""
    from kgroups.inference._propagation_nb import LEAST_RATE

    share = sizes / sizes.sum()
    together = np.square(share)
    mean = float(together @ inside + (1.0 - together.sum()) * between)
    # A rate of 0 would make every edge between groups impossible.
    return Rates(inside / mean, max(between / mean, LEAST_RATE), share)


def _planted(graph: ObservedGraph, labels: Ints, k: int) -> tuple[Rates, Learning]:
    """Return the contrast of labels, and how it is learned: above the detection threshold."""
    A = graph.level.A
    if graph.degree_corrected:
        branching = BetheHessian("nonbacktracking").bind(A, weighted=False).r ** 2
    else:
        degrees = np.diff(A.indptr)
        branching = float(degrees[degrees > 0].mean())
    fit = planted_fit(A, _strengths(graph), labels, k=k)
    mu = contrast(Rates(np.full(k, fit.inside), fit.between, np.full(k, 1.0 / k)))
    first = planted_rates(max(mu, _FIRST_RATIO / math.sqrt(branching)), k)
    return first, Learning("contrast", _LEAST_RATIO / math.sqrt(branching))


def better_fit(graph: ObservedGraph, z: Ints, labels: Ints, k: int) -> bool:
    """Tell if ``z`` has k groups and a higher planted profile likelihood than ``labels``."""
    if np.unique(z).size < k:
        return False
    A, strengths = graph.level.A, _strengths(graph)
    gains = (planted_fit(A, strengths, labels, k=k).gain for labels in (z, labels))
    return next(gains) > next(gains)


def _strengths(graph: ObservedGraph) -> Floats:
    d = graph.level.strength
    return d if graph.degree_corrected else np.full(d.size, d.mean())
