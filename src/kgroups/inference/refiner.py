"""Belief propagation as a method that infers marginals, and refines labels by them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from kgroups._options import changed_options
from kgroups._types import Floats, Ints
from kgroups._validation import check_choice, check_integer, check_real
from kgroups.hartigan import Refinement, planted_fit
from kgroups.inference._propagation_nb import LEAST_RATE
from kgroups.inference.propagation import (
    Inference,
    Learning,
    Rates,
    Schedule,
    block_model,
    contrast,
    planted_rates,
    propagate,
    rates_of_labels,
)
from kgroups.spectrum import BetheHessian, degrees_are_uneven

if TYPE_CHECKING:
    from kgroups.search import Level, Problem

__all__ = [
    "BeliefPropagation",
    "Degrees",
    "better_fit",
    "infer_at_rates",
    "known_rates",
    "model_in_words",
]

Degrees: TypeAlias = Literal["auto", "corrected", "uniform"]

# Signal-to-noise ratio at which planted rates start at least, and which they keep: communities
# can be detected above 1, and below it all messages become equal and stay so.
_FIRST_RATIO = 1.15
_LEAST_RATIO = 1.05
# Relative change of a rate at which learning ends.
_RATE_TOLERANCE = 1e-3
# The only component of a level whose components are taken as one.
_WHOLE = np.zeros(1, dtype=np.int64)


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

    __repr__ = changed_options

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

    def corrects(self, level: "Level") -> bool:
        """Return whether rates stand on top of degrees."""
        return degrees_are_uneven(level.A) if self.degrees == "auto" else self.degrees != "uniform"

    def infer(
        self,
        level: "Level",
        labels: Ints,
        k: int,
        *,
        alike: bool = False,
        need_all: bool = False,
        progress: Callable[[int], None] = lambda sweeps: None,
    ) -> Inference:
        """Return the marginals of ``k`` groups of the whole graph, which start from labels.

        With ``alike`` the first rates of ``"own"`` are one rate inside all groups, as they are for
        ``"planted"``: those of single groups mean little if the labels have many errors. With
        ``need_all`` it is given up if no node is left in a group after ``em_sweeps`` sweeps.
        """
        n = labels.size
        if k == 1 or not level.indices.size:
            sizes = np.bincount(labels, minlength=k)
            prior = (sizes + 1.0) / (n + k) if self.rates == "own" else np.full(k, 1.0 / max(k, 1))
            rates = Rates(np.ones(k), 1.0, prior)
            return Inference(np.tile(prior, (n, 1)), rates, 0.0, 0.0, converged=True, sweeps=0)
        corrected = self.corrects(level)
        model = block_model(level.as_one(), degree_corrected=corrected)
        if self.rates == "planted" or alike:
            rates, learning = _planted(level, labels, k, degree_corrected=corrected)
        else:
            rates = rates_of_labels(model, labels, k)
        if self.rates == "own":
            learning = Learning("own")
        schedule = Schedule(
            self.em_steps, self.em_sweeps, self.max_sweeps, self.tolerance, _RATE_TOLERANCE
        )
        return propagate(
            model,
            labels,
            np.array([k]),
            _WHOLE,
            learning,
            schedule,
            rates=rates,
            softness=self.softness,
            need_all=need_all,
            progress=progress,
        )[0]

    def refine(self, problem: "Problem", labels: Ints) -> Refinement:
        """Return the labels of largest probability, or the first ones where these fit better."""
        level, k = problem.level, int(labels.max(initial=-1)) + 1
        found, corrected = self.infer(level, labels, k), self.corrects(level)
        z = np.argmax(found.marginals, axis=1)
        kept = better_fit(level, z, labels, k, degree_corrected=corrected)
        return Refinement(
            z=z if kept else labels,
            kept="refined labels" if kept else "first labels",
            objective=found.evidence,
            sweeps=found.sweeps,
            moves=int(np.count_nonzero(z != labels)),
            visits=found.sweeps * len(level.indices),
            converged=found.converged,
            model=model_in_words(self.rates, degree_corrected=corrected),
        )


def model_in_words(rates: str, *, degree_corrected: bool) -> str:
    """Return the block model in words; ``rates`` is "planted" or "own"."""
    densities = "one density" if rates == "planted" else "a density for each community"
    return f"{'degree-corrected' if degree_corrected else 'uniform'}, {densities}"


def infer_at_rates(
    level: "Level",
    labels: Ints,
    rates: Rates,
    *,
    max_sweeps: int = 300,
    tolerance: float = 1e-3,
    softness: float = 0.5,
) -> Inference:
    """Return the marginals at known rates, from labels of a graph with at least one edge."""
    model = block_model(level.as_one(), degree_corrected=BeliefPropagation().corrects(level))
    schedule, k = Schedule(0, 0, max_sweeps, tolerance, 0.0), np.array([rates.inside.size])
    learning = Learning("unchanged")
    return propagate(model, labels, k, _WHOLE, learning, schedule, rates=rates, softness=softness)[
        0
    ]


def known_rates(inside: Floats, between: float, sizes: Floats) -> Rates:
    """Return the rates of groups of known sizes whose edges have these probabilities."""
    share = sizes / sizes.sum()
    together = np.square(share)
    mean = float(together @ inside + (1.0 - together.sum()) * between)
    # A rate of 0 would make every edge between groups impossible.
    return Rates(inside / mean, max(between / mean, LEAST_RATE), share)


def _planted(
    level: "Level", labels: Ints, k: int, *, degree_corrected: bool
) -> tuple[Rates, Learning]:
    """Return the contrast of labels, and how it is learned: above the detection threshold."""
    A = level.with_explicit_weights().A
    if degree_corrected:
        branching = BetheHessian("nonbacktracking").bind(A, weighted=False).r ** 2
    else:
        degrees = np.diff(A.indptr)
        branching = float(degrees[degrees > 0].mean())
    fit = planted_fit(A, _strengths(level, degree_corrected=degree_corrected), labels, k=k)
    mu = contrast(Rates(np.full(k, fit.inside), float(fit.between), np.full(k, 1.0 / k)))
    first = planted_rates(max(mu, _FIRST_RATIO / math.sqrt(branching)), k)
    return first, Learning("contrast", _LEAST_RATIO / math.sqrt(branching))


def better_fit(level: "Level", z: Ints, labels: Ints, k: int, *, degree_corrected: bool) -> bool:
    """Return whether ``z`` has k groups and a higher planted likelihood than ``labels``."""
    if np.unique(z).size < k:
        return False
    A, strengths = (
        level.with_explicit_weights().A,
        _strengths(level, degree_corrected=degree_corrected),
    )
    gains = (planted_fit(A, strengths, labels, k=k).gain for labels in (z, labels))
    return bool(next(gains) > next(gains))


def _strengths(level: "Level", *, degree_corrected: bool) -> Floats:
    d = level.strength
    return d if degree_corrected else np.full(d.size, d.mean())
