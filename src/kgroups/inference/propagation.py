"""Belief propagation with expectation maximization, on a block model of a graph.

Nodes i and j of groups a and b are linked at the rate theta_i theta_j omega_ab, where omega_ab is
``inside[a]`` for a = b and ``between`` otherwise. The propensities theta are scaled so that rates
of 1 expect as many edges as there are: omega says how much denser than without communities.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import rows_of
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.multilevel import Level, explicit_weights

__all__ = [
    "Beliefs",
    "BlockModel",
    "Evidence",
    "Expected",
    "Inferred",
    "LearnRates",
    "Rates",
    "Schedule",
    "block_model",
    "contrast",
    "evidence_of_labels",
    "learn_contrast",
    "learn_own",
    "learn_planted",
    "planted_rates",
    "propagate",
    "rates_of_labels",
]

# Counts of edges and pairs are never taken to be smaller: rates stay positive and finite.
_LEAST_EDGES = 1e-3
_LEAST_SHARE = 1e-30
_LEAST_RATE = 1e-3
# Rates inside groups exceed the rate between them at least by this factor.
_LEAST_RATIO = 1.001
_LEAST_RATIO_OWN = 1.01
_MOST_CONTRAST = 0.98
# Messages that swing between two states, as those of leaves around a hub do, are damped: more
# each time that the residual has not fallen to this share within a window of sweeps.
_WINDOW = 9
_STALLED = 0.9
_DAMPING_STEP = 0.2
_MOST_DAMPING = 0.8


class BlockModel(NamedTuple):
    """A graph and the propensities of its nodes.

    Attributes
    ----------
    A : CSR
        Weights of the edges, without loops.
    reverse : ndarray of shape (nnz,)
        Place of the entry (j, i) for each entry (i, j).
    theta : ndarray of shape (n,)
        Propensities; their products sum to ``m`` over all pairs.
    heaviest : float
        Largest weight, 0 if all weights are 1.
    m : float
        Total weight of the edges.
    """

    A: CSR
    reverse: Ints
    theta: Floats
    heaviest: float
    m: float

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.theta.size


class Rates(NamedTuple):
    """Rates of edges inside each group and between groups, and the shares of the groups."""

    inside: Floats
    between: float
    prior: Floats


class Expected(NamedTuple):
    """What rates are learned from.

    Attributes
    ----------
    edges, pairs : ndarray of shape (k,)
        Expected weight of the edges inside each group, and what rates of 1 expect there.
    sizes : ndarray of shape (k,)
        Expected number of nodes.
    m : float
        Total weight of the edges.
    """

    edges: Floats
    pairs: Floats
    sizes: Floats
    m: float


LearnRates: TypeAlias = Callable[[Rates, Expected], Rates]
"""A step from the rates at hand to those that explain the expected edges."""


def block_model(level: Level, *, degree_corrected: bool) -> BlockModel:
    """Return the model of a graph with at least one edge: propensities are degrees, or equal."""
    from kgroups.inference._propagation_nb import reversed_entries

    A, d = explicit_weights(level.A), level.strength
    m = 0.5 * float(d.sum())
    theta = d if degree_corrected else np.ones(d.size)
    pairs = 0.5 * float(theta.sum() ** 2 - theta @ theta)
    weighted = bool(np.any(A.data != 1.0))
    heaviest = float(A.data.max()) if weighted else 0.0
    return BlockModel(A, reversed_entries(A), theta * math.sqrt(m / pairs), heaviest, m)


def inner_edges(model: BlockModel, z: Indices, k: int) -> Floats:
    """Return the weight of the edges inside each group of labels."""
    rows = rows_of(model.A)
    same = z[rows] == z[model.A.indices]
    inner = np.bincount(z[rows[same]], model.A.data[same], minlength=k)
    return np.asarray(0.5 * inner, dtype=float)


def expected_pairs(theta: Floats, marginals: Floats) -> Floats:
    """Return the weight of the edges inside each group that rates of 1 expect."""
    total, squares = theta @ marginals, np.square(theta) @ np.square(marginals)
    return np.asarray(0.5 * np.maximum(total * total - squares, 0.0))


def contrast(rates: Rates) -> float:
    """Return the mu of planted rates: 1 + (k - 1) mu inside and 1 - mu between k equal groups."""
    inside, k = float(rates.inside[0]), rates.inside.size
    return (inside - rates.between) / (inside + (k - 1) * rates.between)


def planted_rates(mu: float, k: int) -> Rates:
    """Return the rates of k equal groups at a contrast between 0 and 1."""
    mu = min(mu, _MOST_CONTRAST)
    return Rates(np.full(k, 1.0 + (k - 1) * mu), 1.0 - mu, np.full(k, 1.0 / k))


def _two_rates(expected: Expected, ratio: float) -> tuple[float, float]:
    """Return the rates inside and between groups that explain the expected edges."""
    edges, pairs, m = float(expected.edges.sum()), float(expected.pairs.sum()), expected.m
    between = max(m - edges, _LEAST_EDGES) / max(m - pairs, _LEAST_EDGES)
    return max(edges / max(pairs, _LEAST_EDGES), ratio * between), between


def learn_planted(rates: Rates, expected: Expected) -> Rates:
    """Learn one rate inside all groups, the rate between them, and the shares of the groups."""
    inside, between = _two_rates(expected, _LEAST_RATIO)
    prior = np.maximum(expected.sizes / expected.sizes.sum(), _LEAST_SHARE)
    return Rates(np.full(rates.inside.size, inside), between, prior)


def learn_contrast(rates: Rates, expected: Expected, *, least: float = 0.0) -> Rates:
    """Move the contrast of equal groups halfway to what explains the expected edges.

    It stays at ``least`` or above: the messages fade below the threshold of detection, and never
    come back.
    """
    k = rates.inside.size
    inside, between = _two_rates(expected, 1.0)
    found = (inside - between) / (inside + (k - 1) * between)
    return planted_rates(max(0.5 * (contrast(rates) + found), least), k)


def learn_own(rates: Rates, expected: Expected) -> Rates:
    """Learn a rate for each group with one edge more at their common rate, and the shares.

    Rates move halfway on a logarithmic scale.
    """
    edges, pairs, sizes, _ = expected
    k = sizes.size
    common, between = _two_rates(expected, 0.0)
    own = (edges + 1.0) / (pairs + 1.0 / max(common, _LEAST_RATE))
    own = np.maximum(own, _LEAST_RATIO_OWN * between)
    return Rates(
        np.sqrt(rates.inside * own),
        max(math.sqrt(rates.between * between), _LEAST_RATE),
        (sizes + 1.0) / (sizes.sum() + k),
    )


def rates_of_labels(model: BlockModel, z: Indices, k: int) -> Rates:
    """Return the rate of each group of labels, the rate between them, and their shares."""
    total = np.bincount(z, model.theta, minlength=k)
    squares = np.bincount(z, np.square(model.theta), minlength=k)
    pairs = np.asarray(0.5 * (total * total - squares), dtype=float)
    sizes = np.bincount(z, minlength=k).astype(float)
    expected = Expected(inner_edges(model, z, k), pairs, sizes, model.m)
    between = max(_two_rates(expected, 0.0)[1], _LEAST_RATE)
    own = np.maximum(expected.edges / np.maximum(pairs, 1e-9), _LEAST_RATIO_OWN * between)
    return Rates(own, between, (sizes + 1.0) / (model.n + k))


class Schedule(NamedTuple):
    """How long to propagate, and when to learn rates.

    Attributes
    ----------
    steps : int
        Steps of expectation maximization.
    sweeps : int
        Sweeps over all nodes before each step, at most.
    final_sweeps : int
        Sweeps at the rates learned last, at most.
    tolerance : float
        Mean change of a marginal in a sweep at which messages have converged.
    rate_tolerance : float
        Relative change of a rate at which learning ends.
    """

    steps: int
    sweeps: int
    final_sweeps: int
    tolerance: float
    rate_tolerance: float


class Inferred(NamedTuple):
    """Where belief propagation ended.

    Attributes
    ----------
    marginals : ndarray of shape (n, k)
        Probability of each group for each node.
    rates : Rates
        The rates learned last.
    evidence : float
        Bethe free energy: nats saved against one community, before the cost of parameters.
    residual : float
        Mean change of a marginal in the last sweep.
    converged : bool
        Whether it is within the tolerance.
    sweeps : int
        Sweeps over all nodes.
    """

    marginals: Floats
    rates: Rates
    evidence: float
    residual: float
    converged: bool
    sweeps: int


class Beliefs:
    """Messages and marginals of a model, changed in place by each sweep.

    They start from labels; a share ``softness`` of each first message is spread over all groups.
    """

    def __init__(self, model: BlockModel, z: Indices, k: int, softness: float) -> None:
        n = model.n
        self.model = model
        self.marginals = np.full((n, k), softness / k)
        self.marginals[np.arange(n), z] += 1.0 - softness
        self._messages = np.repeat(self.marginals, np.diff(model.A.indptr), axis=0)
        self._edges = np.zeros(k)

    def sweep(self, rates: Rates, *, damping: float = 0.0) -> tuple[float, float]:
        """Update all nodes in order; return the evidence and the mean change of a marginal."""
        from kgroups.inference._propagation_nb import sweep

        model = self.model
        total = model.theta @ self.marginals
        saved, residual = sweep(
            model.A,
            model.reverse,
            model.theta,
            model.heaviest,
            rates.inside,
            rates.between,
            rates.prior,
            self._messages,
            self.marginals,
            total,
            self._edges,
            damping,
        )
        more = rates.inside - rates.between
        pairs = expected_pairs(model.theta, self.marginals)
        saved += model.m * (1.0 - rates.between) + float(more @ pairs)
        return saved, residual

    def expected(self) -> Expected:
        """Return expected edges, pairs and sizes; before any sweep there are no edges."""
        pairs = expected_pairs(self.model.theta, self.marginals)
        return Expected(self._edges.copy(), pairs, self.marginals.sum(axis=0), self.model.m)


def propagate(
    beliefs: Beliefs,
    rates: Rates,
    learn: LearnRates,
    schedule: Schedule,
    *,
    progress: Callable[[int], None] = lambda sweeps: None,
) -> Inferred:
    """Sweep and learn rates in turn until neither changes.

    ``progress`` receives the number of sweeps done.
    """
    evidence, residual, damping, done = 0.0, np.inf, 0.0, 0
    for step in range(schedule.steps + 1):
        last, before = step == schedule.steps, np.inf
        for s in range(schedule.final_sweeps if last else schedule.sweeps):
            evidence, residual = beliefs.sweep(rates, damping=damping)
            done += 1
            progress(done)
            if residual <= schedule.tolerance:
                break
            if s % _WINDOW == 0:
                if residual > _STALLED * before:
                    damping = min(damping + _DAMPING_STEP, _MOST_DAMPING)
                before = residual
        if last:
            break
        learned = learn(rates, beliefs.expected())
        change = float(np.max(np.abs(np.log(learned.inside / rates.inside))))
        if residual <= schedule.tolerance and change <= schedule.rate_tolerance:
            break
        rates = learned
    converged = residual <= schedule.tolerance
    return Inferred(beliefs.marginals, rates, evidence, residual, converged, done)


class Evidence(NamedTuple):
    """Groups that belief propagation ended with, and what they save.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Group with the largest marginal, without gaps.
    k : int
        Number of groups of ``z``.
    evidence : float
        Nats saved against one community before the cost of parameters.
    score : float
        The same less the cost of rates and group sizes: ln m / 2 and (k - 1) ln n / 2, but ln k!
        for the names of the groups.
    marginals : ndarray of shape (n, groups)
    converged : bool
    """

    z: Ints
    k: int
    evidence: float
    score: float
    marginals: Floats
    converged: bool


def evidence_of_labels(
    level: Level,
    z: Indices,
    k: int,
    *,
    max_sweeps: int = 50,
    tolerance: float = 1e-3,
    softness: float = 0.1,
) -> Evidence:
    """Propagate beliefs from labels of a connected graph, with rates learned in each sweep.

    There are two rates, inside and between groups, on top of degrees. Groups that end with less
    than a node in sum do not count.
    """
    model = block_model(level, degree_corrected=True)
    beliefs = Beliefs(model, z, k, softness)
    first = beliefs.expected()._replace(edges=inner_edges(model, z, k))
    rates = learn_planted(Rates(np.ones(k), 1.0, np.full(k, 1.0 / k)), first)
    schedule = Schedule(max_sweeps - 1, 1, 1, tolerance, math.inf)
    found = propagate(beliefs, rates, learn_planted, schedule)
    names, labels = np.unique(np.argmax(found.marginals, axis=1), return_inverse=True)
    used = int(np.count_nonzero(found.marginals.sum(axis=0) > 1.0))
    cost = 0.5 * math.log(model.m) + 0.5 * (used - 1) * math.log(model.n) - math.lgamma(used + 1.0)
    evidence = found.evidence if math.isfinite(found.evidence) else -math.inf
    return Evidence(
        labels.astype(np.int64),
        int(names.size),
        evidence,
        evidence - cost,
        found.marginals,
        found.converged,
    )
