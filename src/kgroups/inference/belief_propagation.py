"""Belief propagation with expectation maximization, on a block model of a graph.

Nodes i and j of groups a and b are linked at the rate theta_i theta_j omega_ab, where omega_ab is
``inside[a]`` for a = b and ``between`` otherwise. The propensities theta are scaled so that rates
of 1 expect as many edges as there are: omega says how much denser than without communities.
Components are inferred independently of each other, all at once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._csr import inner_weights, writable
from kgroups._progress import new_control, run_interruptibly
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups._validation import changed_options, check_choice, check_integer, check_real
from kgroups.hartigan import Refinement, planted_fit
from kgroups.inference import _beliefs_nb as kernels
from kgroups.inference._beliefs_nb import LEAST_RATE
from kgroups.spectrum import BetheHessian, degrees_are_uneven

if TYPE_CHECKING:
    from kgroups.search import Level, Problem

__all__ = [
    "BeliefPropagation",
    "BlockModel",
    "Degrees",
    "Inference",
    "Learning",
    "Rates",
    "Schedule",
    "better_fit",
    "block_model",
    "contrast",
    "infer_at_rates",
    "known_rates",
    "model_in_words",
    "parameter_cost",
    "planted_rates",
    "propagate",
    "rates_of_labels",
]

# Messages per kernel call, so that progress is shown several times a second. Where one sweep has
# more, the kernel runs in a second thread, so that Ctrl-C is handled at once.
_MESSAGES_PER_CALL = 5_000_000
Degrees: TypeAlias = Literal["auto", "corrected", "uniform"]
# Least signal-to-noise ratio of planted rates at the start and later: communities can be detected
# above 1, and below it all messages become equal and stay so.
_FIRST_RATIO = 1.15
_LEAST_RATIO = 1.05
# Relative change of a rate at which learning ends.
_RATE_TOLERANCE = 1e-3
# The only component of a level whose components are taken as one.
_WHOLE = np.zeros(1, dtype=np.int64)


class BlockModel(NamedTuple):
    """A graph and the propensities of its nodes.

    Attributes
    ----------
    level : Level
        Its edges, without loops.
    reverse : ndarray of shape (nnz,)
        Place of the entry (j, i) for each entry (i, j).
    theta : ndarray of shape (n,)
        Propensities; their products sum to ``m`` over all pairs of a component.
    heaviest : ndarray of shape (n_components,)
        Largest weight of each component, 0 if all weights are 1.
    m : ndarray of shape (n_components,)
        Total weight of its edges.
    """

    level: "Level"
    reverse: Ints
    theta: Floats
    heaviest: Floats
    m: Floats

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.theta.size

    @property
    def A(self) -> CSR:  # noqa: N802
        """The edges as a matrix."""
        return self.level.A


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


class Schedule(NamedTuple):
    """How long to propagate, and when to learn rates.

    Attributes
    ----------
    steps : int
        Steps of expectation maximization.
    sweeps : int
        Largest number of sweeps over all nodes before each step.
    final_sweeps : int
        Largest number of sweeps at the rates learned last.
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


class Inference(NamedTuple):
    """Where belief propagation ended in a component.

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

    def score(self, m: float, *, own_rates: bool) -> float:
        """Return the evidence less the cost of parameters, without groups of up to one node."""
        used = max(1, int(np.count_nonzero(self.marginals.sum(axis=0) > 1.0)))
        score = self.evidence - parameter_cost(len(self.marginals), m, used)
        return score - 0.5 * (used - 1) * math.log(m) if own_rates else score


def block_model(level: "Level", *, degree_corrected: bool = True) -> BlockModel:
    """Return the model of a graph with edges: propensities are degrees, or equal."""
    d, starts, parts = level.strength, level.offsets[:-1], level.offsets.size - 1
    part = np.arange(parts).repeat(level.sizes)
    m = 0.5 * np.bincount(part, d, minlength=parts).astype(float, copy=False)
    theta = d.copy() if degree_corrected else np.ones(d.size)
    sums = np.bincount(part, theta, minlength=parts)
    pairs = 0.5 * (sums**2 - np.bincount(part, np.square(theta), minlength=parts))
    theta *= np.sqrt(np.divide(m, pairs, out=np.zeros(parts), where=pairs > 0.0))[part]
    heaviest = np.zeros(parts)
    if np.any(level.data != 1.0):
        low = np.minimum(level.indptr[starts], len(level.data) - 1)
        heaviest = np.maximum.reduceat(level.data, low).astype(float)
        heaviest[(heaviest == 1.0) & (np.minimum.reduceat(level.data, low) == 1.0)] = 0.0
    reverse = np.empty(len(level.indices), dtype=np.int64)
    kernels.reverse_entries(level.indptr, level.indices, level.indptr.astype(np.int64), reverse)
    return BlockModel(level, reverse, theta, heaviest, m)


def contrast(rates: Rates) -> float:
    """Return the mu of planted rates: 1 + (k - 1) mu inside and 1 - mu between k equal groups."""
    inside, k = float(rates.inside[0]), rates.inside.size
    return (inside - rates.between) / (inside + (k - 1) * rates.between)


def planted_rates(mu: float, k: int) -> Rates:
    """Return the rates of k equal groups at a contrast between 0 and 1."""
    mu = min(mu, kernels.MOST_CONTRAST)
    return Rates(np.full(k, 1.0 + (k - 1) * mu), 1.0 - mu, np.full(k, 1.0 / k))


def rates_of_labels(model: BlockModel, z: Indices, k: int) -> Rates:
    """Return the rate of each group of labels, the rate between them, and their shares."""
    total = np.bincount(z, model.theta, minlength=k)
    squares = np.bincount(z, np.square(model.theta), minlength=k)
    pairs = np.asarray(0.5 * (total * total - squares), dtype=float)
    sizes = np.bincount(z, minlength=k).astype(float)
    edges, m = inner_weights(model.A, z, k), float(model.m.sum())
    outside, among = m - edges.sum(), m - pairs.sum()
    between = max(outside, kernels.LEAST_EDGES) / max(among, kernels.LEAST_EDGES)
    between = max(float(between), kernels.LEAST_RATE)
    own = np.maximum(edges / np.maximum(pairs, 1e-9), kernels.LEAST_RATIO_OWN * between)
    return Rates(own, between, (sizes + 1.0) / (model.n + k))


def parameter_cost(n: int, m: float, k: int) -> float:
    """Return the nats that rates and sizes of k groups cost, less ln k! for their names."""
    return 0.5 * math.log(m) + 0.5 * (k - 1) * math.log(n) - math.lgamma(k + 1.0)


def propagate(
    model: BlockModel,
    z: Ints,
    k: Ints,
    which: Ints,
    learning: Learning,
    schedule: Schedule,
    *,
    rates: Rates | None = None,
    softness: float = 0.1,
    need_all: bool = False,
    progress: Callable[[int], None] = lambda sweeps: None,
    messages_per_call: int = _MESSAGES_PER_CALL,
) -> list[Inference]:
    """Sweep and learn rates in turn until neither changes, in each of some components.

    They start from labels below ``k`` in each component; a share ``softness`` of each first message
    is spread over all groups. The first rates are those of one component, or learned from the
    labels. With ``need_all``, a component is given up if after the sweeps of the first step a group
    is not the most probable one of any node; its evidence is then -inf. ``progress`` receives the
    number of sweeps done, several times a second.
    """
    found: dict[int, Inference] = {}
    for number in np.unique(k[which]).tolist():
        same = which[k[which] == number]
        options = softness, need_all, progress, messages_per_call
        each = _propagated(model, z, number, same, learning, schedule, rates, *options)
        found.update(zip(same.tolist(), each, strict=True))
    return [found[c] for c in which.tolist()]


def _propagated(
    model: BlockModel,
    z: Ints,
    k: int,
    which: Ints,
    learning: Learning,
    schedule: Schedule,
    rates: Rates | None,
    softness: float,
    need_all: bool,  # noqa: FBT001
    progress: Callable[[int], None],
    messages_per_call: int,
) -> list[Inference]:
    """Do what :func:`propagate` does in components with the same number of groups."""
    level, parts = model.level, which.size
    firsts, messages = (
        np.concatenate([[0], np.cumsum(numbers[which])]) for numbers in (level.sizes, level.entries)
    )
    inside, prior, learned, shares = np.ones((4, parts, k))
    state = np.tile(kernels.STATE, (parts, 1))
    if rates is not None:
        inside[:], prior[:] = rates.inside, rates.prior
        state[:, kernels.BETWEEN] = rates.between
    message, marginal = np.empty((messages[-1], k)), np.empty((firsts[-1], k))
    call = (
        *(level.indptr, level.indices, level.data, level.offsets),
        *(model.reverse, model.theta, model.heaviest, model.m, which, k, firsts, messages),
        *(
            writable(z.astype(np.int64, copy=False)),
            rates is None,
            inside,
            prior,
            message,
            marginal,
        ),
        *(float(softness), np.empty((4, parts, k)), kernels.RULES.index(learning.rule)),
        *(float(learning.least), *schedule, state),
    )
    scratch = *np.empty((8, k)), learned, shares
    large = message.size > messages_per_call

    def run(sweeps: int) -> bool:
        arguments = *call, sweeps, *scratch, new_control()
        if large:
            run_interruptibly(kernels.propagate, *arguments)
        else:
            kernels.propagate(*arguments)
        progress(int(state[:, kernels.DONE].max(initial=0.0)))
        return bool(state[:, kernels.ENDED].all())

    ended = False
    marginals = np.split(marginal, firsts[1:-1])
    if need_all:
        ended = run(schedule.sweeps)
        for own, one in zip(marginals, state, strict=True):
            if not one[kernels.ENDED] and np.unique(np.argmax(own, axis=1)).size < k:
                one[kernels.ENDED], one[kernels.EVIDENCE] = 1.0, -math.inf
    budget = max(1, messages_per_call // max(1, message.size))
    while not (ended or state[:, kernels.ENDED].all()):
        ended = run(budget)
    found = []
    for p, own in enumerate(marginals):
        between, evidence, residual = state[p, : kernels.RESIDUAL + 1].tolist()
        found.append(
            Inference(
                own,
                Rates(inside[p], between, prior[p]),
                evidence if not math.isnan(evidence) and evidence < math.inf else -math.inf,
                residual,
                residual <= schedule.tolerance,
                int(state[p, kernels.DONE]),
            )
        )
    return found


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
        Largest number of sweeps over all nodes before each of these steps.
    max_sweeps : int
        Largest number of sweeps at the rates learned last.
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

    name: ClassVar[str] = "Refinement by belief propagation"
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
        """Upper bound on the number of sweeps."""
        return self.em_steps * self.em_sweeps + self.max_sweeps

    def corrects(self, level: "Level") -> bool:
        """Return whether the model corrects for degrees."""
        return degrees_are_uneven(level.A) if self.degrees == "auto" else self.degrees != "uniform"

    def infer(
        self,
        level: "Level",
        labels: Ints,
        k: int,
        *,
        need_all: bool = False,
        progress: Callable[[int], None] = lambda sweeps: None,
    ) -> Inference:
        """Return the marginals of ``k`` groups of the whole graph, which start from labels.

        With ``need_all``, inference is given up if a group has no node after ``em_sweeps`` sweeps.
        """
        n = labels.size
        if k == 1 or not level.indices.size:
            sizes = np.bincount(labels, minlength=k)
            prior = (sizes + 1.0) / (n + k) if self.rates == "own" else np.full(k, 1.0 / max(k, 1))
            rates = Rates(np.ones(k), 1.0, prior)
            return Inference(np.tile(prior, (n, 1)), rates, 0.0, 0.0, converged=True, sweeps=0)
        corrected = self.corrects(level)
        model = block_model(level.as_one(), degree_corrected=corrected)
        if self.rates == "planted":
            rates, learning = _planted(level, labels, k, degree_corrected=corrected)
        else:
            rates, learning = rates_of_labels(model, labels, k), Learning("own")
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
