"""Belief propagation with expectation maximization, on a block model of a graph.

Nodes i and j of groups a and b are linked at the rate theta_i theta_j omega_ab, where omega_ab is
``inside[a]`` for a = b and ``between`` otherwise. The propensities theta are scaled so that rates
of 1 expect as many edges as there are: omega says how much denser than without communities.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from kgroups._progress import new_tally, run_interruptibly
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.multilevel import Level, explicit_weights, inner_weights

__all__ = [
    "Beliefs",
    "BlockModel",
    "Evidence",
    "Inferred",
    "Learning",
    "Rates",
    "Schedule",
    "block_model",
    "contrast",
    "parameter_cost",
    "planted_rates",
    "propagate",
    "rates_of_labels",
]

# Messages per kernel call, so that progress is shown several times a second. Where one sweep has
# more, the kernel runs in a second thread, so that Ctrl-C is handled at once.
_MESSAGES_PER_CALL = 5_000_000


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


class Learning(NamedTuple):
    """How rates are learned from expected edges.

    Attributes
    ----------
    rule : {"unchanged", "planted", "contrast", "own"}
        ``"planted"``: one rate inside all groups, the rate between them, and the shares of the
        groups. ``"contrast"``: the contrast of equal groups moves halfway to what explains the
        expected edges. ``"own"``: a rate for each group, with one edge more at their common rate,
        and the shares; rates move halfway on a logarithmic scale.
    least : float
        The contrast stays at this or above: messages fade below the threshold of detection, and
        never come back.
    """

    rule: Literal["unchanged", "planted", "contrast", "own"]
    least: float = 0.0

    def code(self) -> tuple[int, float]:
        """Return what the kernels take."""
        from kgroups.inference._propagation_nb import RULES

        return RULES.index(self.rule), self.least


def block_model(level: Level, *, degree_corrected: bool) -> BlockModel:
    """Return the model of a graph with at least one edge: propensities are degrees, or equal."""
    from kgroups.inference._propagation_nb import model_of

    A = explicit_weights(level.A)
    return BlockModel(A, *model_of(level._replace(A=A), degree_corrected))


def contrast(rates: Rates) -> float:
    """Return the mu of planted rates: 1 + (k - 1) mu inside and 1 - mu between k equal groups."""
    inside, k = float(rates.inside[0]), rates.inside.size
    return (inside - rates.between) / (inside + (k - 1) * rates.between)


def planted_rates(mu: float, k: int) -> Rates:
    """Return the rates of k equal groups at a contrast between 0 and 1."""
    from kgroups.inference._propagation_nb import MOST_CONTRAST

    mu = min(mu, MOST_CONTRAST)
    return Rates(np.full(k, 1.0 + (k - 1) * mu), 1.0 - mu, np.full(k, 1.0 / k))


def rates_of_labels(model: BlockModel, z: Indices, k: int) -> Rates:
    """Return the rate of each group of labels, the rate between them, and their shares."""
    from kgroups.inference._propagation_nb import LEAST_RATE, LEAST_RATIO_OWN, two_rates

    total = np.bincount(z, model.theta, minlength=k)
    squares = np.bincount(z, np.square(model.theta), minlength=k)
    pairs = np.asarray(0.5 * (total * total - squares), dtype=float)
    sizes = np.bincount(z, minlength=k).astype(float)
    edges = inner_weights(model.A, z, k)
    between = max(two_rates(edges, pairs, model.m, 0.0)[1], LEAST_RATE)
    own = np.maximum(edges / np.maximum(pairs, 1e-9), LEAST_RATIO_OWN * between)
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
        Bethe free energy: nats saved against one community, before the cost of parameters. -inf if
        it was given up.
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
        from kgroups.inference._propagation_nb import first_beliefs

        self.model = model
        self.arrays = first_beliefs(model, z.astype(np.int64, copy=False), k, float(softness))
        self.marginals = self.arrays[1]


def propagate(
    beliefs: Beliefs,
    rates: Rates,
    learning: Learning,
    schedule: Schedule,
    *,
    need_all: bool = False,
    progress: Callable[[int], None] = lambda sweeps: None,
    messages_per_call: int = _MESSAGES_PER_CALL,
) -> Inferred:
    """Sweep and learn rates in turn until neither changes.

    With ``need_all`` it is given up if after the sweeps of the first step a group is not the most
    probable one of any node; the evidence is then -inf. ``progress`` receives the number of sweeps
    done, several times a second.
    """
    from kgroups.inference import _propagation_nb as kernels

    state = np.array(kernels.STATE)
    state[kernels.BETWEEN] = rates.between
    rates = Rates(rates.inside.copy(), rates.between, rates.prior.copy())
    call = (*beliefs.model, *beliefs.arrays, rates.inside, rates.prior, learning.code(), schedule)
    budget = max(1, messages_per_call // max(1, beliefs.arrays[0].size))
    large = beliefs.arrays[0].size > messages_per_call
    run = partial(run_interruptibly, kernels.propagate) if large else kernels.propagate
    ended = False
    if need_all:
        ended = run(*call, state, schedule.sweeps, new_tally())
        present = np.unique(np.argmax(beliefs.marginals, axis=1)).size
        if not ended and present < rates.inside.size:
            ended, state[kernels.EVIDENCE] = True, -math.inf
    while not (ended or run(*call, state, budget, new_tally())):
        progress(int(state[kernels.DONE]))
    done, residual = int(state[kernels.DONE]), float(state[kernels.RESIDUAL])
    progress(done)
    return Inferred(
        beliefs.marginals,
        rates._replace(between=float(state[kernels.BETWEEN])),
        float(state[kernels.EVIDENCE]),
        residual,
        residual <= schedule.tolerance,
        done,
    )


def parameter_cost(n: int, m: float, k: int) -> float:
    """Return the nats that rates and sizes of k groups cost, less ln k! for their names."""
    from kgroups.inference import _propagation_nb as kernels

    return float(kernels.parameter_cost(n, m, k))


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
        The same less :func:`parameter_cost`.
    marginals : ndarray of shape (n, groups)
    converged : bool
    """

    z: Ints
    k: int
    evidence: float
    score: float
    marginals: Floats
    converged: bool
