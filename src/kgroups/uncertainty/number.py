"""How sure is the number of communities: the evidence for each k, beside the spectrum."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kgroups._progress import StageProgress, interrupts_restored, stage_progress
from kgroups._types import Bools, Floats, Ints, Symmetrize
from kgroups._validation import RngLike, as_rng, check_choice, check_k, check_real
from kgroups._wording import argument, counted
from kgroups.adapters import as_graph
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.inference import (
    BeliefPropagation,
    Degrees,
    model_in_words,
)
from kgroups.multilevel import Level, prepare
from kgroups.spectrum import DeferredSpectrum, Spectrum, Step, staircase
from kgroups.uncertainty.marginals import (
    Rates,
    check_messages,
    degree_dispersion,
    spectral_start,
)

__all__ = ["KDistribution", "k_distribution"]

# Numbers of communities are tried until this many in a row have this many nats less than the best:
# together they have less than 1e-4 of the probability.
_PATIENCE = 3
_NEGLIGIBLE = 10.0
# Evidence counts only where the mean change of a node's probabilities in the last sweep is at most
# this. Around hubs, messages that do not converge may show evidence where there is none.
_MOST_RESIDUAL = 0.03
# The summary lists values of k with at least this probability, the most probable ones first.
_SHOWN_PROBABILITY = 0.005
_MOST_SHOWN = 6
_CHOICES = {
    "mean-degree": "mean degree",
    "second-moment": "second moment",
    "nonbacktracking": "non-backtracking",
}


@dataclass(frozen=True, eq=False, repr=False)
class KDistribution:
    """How probable each number of communities is; ``print(found)`` shows it in a few lines.

    Attributes
    ----------
    k_values : ndarray of int, read-only
        The numbers of communities that were tried, rising.
    probabilities : ndarray of float, read-only
        Their probabilities given the model and its penalty; those of all others are taken to be 0.
    models : tuple of {"planted", "own"}
        The models that were averaged: one rate inside all communities, or a rate for each.
    evidence : ndarray of shape (models, values of k), read-only
        Bethe free energy: the nats by which k communities describe the graph better than one,
        before the cost of their parameters.
    penalty : ndarray of shape (models, values of k), read-only
        That cost: half the logarithm of the number of edges for each rate inside communities.
    reliable : ndarray of bool, shape (models, values of k), read-only
        Whether belief propagation came close enough to convergence for its evidence to count.
    spectrum : Spectrum
        The eigenvalue counts at the three choices of r, as :func:`kgroups.estimate_k` gives them.
    staircase : tuple of Step
        The number k of eigenvalues of N_r above 1 at increasing values of r, from the smallest of
        the three choices on, until at most one is left.
    n, m : int
        Nodes and edges, without self-loops.
    degree_corrected : bool
        Whether the model corrects for degrees.
    dispersion : float
        Variance of the degrees over their mean, which is 1 for edges at random.
    limit : int or None
        The largest k that was allowed, if a larger one may have been tried otherwise.

    Notes
    -----
    The probabilities are relative weights under one model. They are not calibrated: on graphs that
    no block model describes they are too sharp. Read them beside the eigenvalue counts.
    """

    k_values: Ints
    probabilities: Floats
    models: tuple[Literal["planted", "own"], ...]
    evidence: Floats
    penalty: Floats
    reliable: Bools
    spectrum: Spectrum
    staircase: tuple[Step, ...]
    n: int
    m: int
    degree_corrected: bool
    dispersion: float
    limit: int | None = None

    @property
    def k(self) -> int:
        """The most probable number of communities."""
        return int(self.k_values[np.argmax(self.probabilities)])

    def probability(self, k: int) -> float:
        """Return the probability of a number of communities, 0 if it was not tried."""
        return float(self.probabilities[self.k_values == k].sum())

    @property
    def scores(self) -> Floats:
        """Evidence less penalty of each model and k, in nats; -inf where it does not count."""
        return np.where(self.reliable, self.evidence - self.penalty, -np.inf)

    @property
    def model(self) -> str:
        """The block model in words, the one with the larger score at the most probable k."""
        scores = self.scores[:, np.argmax(self.probabilities)]
        best = self.models[int(np.argmax(scores))]
        return model_in_words(best, degree_corrected=self.degree_corrected)

    def lines(self) -> list[str]:
        """Return the summary: P(k), eigenvalue counts, and what they rest on."""
        counts = [f"{k} ({_CHOICES[choice]})" for choice, k in self.spectrum.shown_k_at.items()]
        lines = [
            f"most probable: {counted(self.k, 'community', 'communities')}",
            f"P(k): {self._shown_probabilities()} (tried: {_shown_ranges(self.k_values.tolist())})",
            f"eigenvalues above the threshold: {', '.join(counts)}",
        ]
        if self.staircase:
            lines.append(f"k(r): {_shown_steps(self.staircase)}")
        lines.append(
            f"model: {self.model}; degrees vary {self.dispersion:.1f} times as much as at random"
        )
        rejected = self.k_values[~self.reliable.any(axis=0)].tolist()
        if rejected:
            listed = ", ".join(map(str, rejected))
            lines.append(f"not counted because belief propagation did not converge: k = {listed}")
        if self.limit is not None:
            lines.append(f"more than {self.limit} communities were not tried: too many messages")
        lines.append(
            "P(k) holds given the model and its penalty; it is not a calibrated probability"
        )
        return lines

    def _shown_probabilities(self) -> str:
        order = np.argsort(-self.probabilities, kind="stable")[:_MOST_SHOWN]
        shown = [i for i in order.tolist() if self.probabilities[i] >= _SHOWN_PROBABILITY]
        return ", ".join(f"{self.k_values[i]}: {self.probabilities[i]:.2f}" for i in sorted(shown))

    def __str__(self) -> str:
        nodes, edges = counted(self.n, "node"), counted(self.m, "edge")
        return "\n  ".join([f"Number of communities of {nodes} and {edges}", *self.lines()])

    def __repr__(self) -> str:
        return f"KDistribution(k={self.k}, P(k)={{{self._shown_probabilities()}}})"

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as plain values that JSON can hold."""
        return {
            "k": self.k,
            "k_values": self.k_values.tolist(),
            "probabilities": self.probabilities.tolist(),
            "models": list(self.models),
            "evidence": self.evidence.tolist(),
            "penalty": self.penalty.tolist(),
            "reliable": self.reliable.tolist(),
            "spectrum": self.spectrum.to_dict(),
            "staircase": [step._asdict() for step in self.staircase],
            "n": self.n,
            "m": self.m,
            "degree_corrected": self.degree_corrected,
            "dispersion": self.dispersion,
            "limit": self.limit,
        }


@interrupts_restored()
def k_distribution(
    graph: Any,
    k_values: Iterable[int] | None = None,
    *,
    rates: Rates = "auto",
    degrees: Degrees = "auto",
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
    max_messages: float = 5e8,
    rng: RngLike = None,
    progress: StageProgress = False,
) -> KDistribution:
    r"""Weigh the numbers of communities of a graph by the evidence for each of them.

    Parameters
    ----------
    graph : as for :func:`detect_communities`
        Self-loops are dropped.
    k_values : iterable of int, optional
        The numbers of communities to compare. By default 1, those between the smallest and the
        largest eigenvalue count, and those next to them until their probability is negligible;
        above 31 in steps of 6 %, and then one by one around the best.
    rates : {"auto", "planted", "own"}
        Whether all communities share one rate of edges inside (``"planted"``), or each has its
        own. ``"auto"`` gives both models the same weight and averages over them.
    degrees : {"auto", "corrected", "uniform"}
        Whether the model corrects for degrees, as for :func:`posterior`.
    weight, symmetrize
        As for :func:`detect_communities`. An edge of weight w counts as w edges, in units in which
        weights vary like counts.
    max_messages : float
        Messages of belief propagation, as for :func:`posterior`, that memory should hold.
    rng : int, Generator or None
        Randomness of the communities to start from; ``None`` is a fixed stream.
    progress : bool or callable
        ``True`` shows the k that is tried; a function receives it as a sentence.

    Returns
    -------
    KDistribution
        Prints as a short summary.

    Raises
    ------
    InputError
        If an argument is not what it must be, there are more than ``max_messages``, or belief
        propagation converges for none of ``k_values``.

    Notes
    -----
    For each k, belief propagation starts from eigenvectors and from one rate inside all
    communities, and learns that rate, or a rate for each of them. Its Bethe free energy
    :math:`\log Z_k`, in nats over one community, gives

    .. math:: P(k) \propto \tfrac12 \exp\left(\log Z_k^{\text{planted}} - \tfrac12 \ln m\right)
        + \tfrac12 \exp\left(\log Z_k^{\text{own}} - \tfrac k2 \ln m\right)

    with m edges, and 1 for k = 1. Each k costs as much as two calls of :func:`posterior`. The
    result says which number fits a block model best, not that there are communities at all: call
    :func:`significance` first.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> found = kg.k_distribution(nx.karate_club_graph(), weight=None)
    >>> found.k, found.spectrum.k_at["mean-degree"]
    (2, 2)
    """
    check_real("max_messages", max_messages, low=0.0, finite=False)
    check_choice("rates", rates, ("auto", "planted", "own"))
    models: tuple[Literal["planted", "own"], ...] = (
        ("planted", "own") if rates == "auto" else (rates,)
    )
    methods = [BeliefPropagation(rates=model, degrees=degrees) for model in models]
    given = as_graph(graph, weight=weight, symmetrize=symmetrize)
    chosen = None if k_values is None else _checked_values(k_values, given.n)
    ready = prepare(given)
    ordered = given if ready.order is None else given.permuted(ready.order)
    A, level = ordered.simple_adjacency(), ready.problem.level
    entries = len(A.indices)
    seed = int(as_rng(rng).integers(2**63))
    with stage_progress(progress=progress) as begin:
        begin("counting eigenvalues")
        spectrum = DeferredSpectrum().of(ordered)
        steps: tuple[Step, ...] = ()
        if entries:
            steps = staircase(A, min(spectrum.r_at.values()), weighted=given.is_weighted)
        tried = _Tried(ordered, level, methods, seed, begin)
        most = given.n if not entries else int(min(given.n, max_messages / entries))
        if chosen is not None or not entries:
            chosen = chosen or [min(1, given.n)]
            check_messages(entries, max(chosen), max_messages)
            for k in chosen:
                tried.add(k)
            limited = False
        else:
            counts = [max(k, 1) for k in spectrum.k_at.values()]
            check_messages(entries, min(counts), max_messages)
            limited = tried.walk(min(counts), min(max(counts), most), most) and most < given.n
    values = np.array(sorted(tried.evidence), dtype=np.int64)
    scores = np.array([tried.score(k) for k in values.tolist()])
    if scores.max() == -math.inf:
        shown = ", ".join(map(str, values.tolist()))
        msg = (
            f"belief propagation must converge for one of the numbers of communities, got "
            f"{argument('k_values')} {shown}, none of which does.\n  Include 1, or other numbers."
        )
        raise InputError(msg)
    weights = np.exp(scores - scores.max())
    probabilities = weights / weights.sum()
    evidence, penalty, reliable = (
        np.array([of(k) for k in values.tolist()]).T
        for of in (tried.evidence.get, tried.penalty, tried.reliable.get)
    )
    for array in (values, probabilities, evidence, penalty, reliable):
        array.flags.writeable = False
    return KDistribution(
        values,
        probabilities,
        models,
        evidence,
        penalty,
        reliable,
        spectrum=spectrum,
        staircase=steps,
        n=given.n,
        m=entries // 2,
        degree_corrected=methods[0].corrects(level),
        dispersion=degree_dispersion(A),
        limit=most if limited else None,
    )


def _checked_values(k_values: Iterable[int], n: int) -> list[int]:
    try:
        chosen = sorted({check_k(k, n) for k in k_values})
    except TypeError:
        chosen = []
    if not chosen:
        msg = (
            f"{argument('k_values')} must be one or more whole numbers, got {k_values!r}.\n"
            "  Pass for instance range(1, 10)."
        )
        raise InputError(msg)
    return chosen


class _Tried:
    """The evidence for each number of communities that was tried."""

    def __init__(
        self,
        graph: Graph,
        level: Level,
        methods: list[BeliefPropagation],
        seed: int,
        begin: Callable[[str], None],
    ) -> None:
        self._graph, self._level, self._methods = graph, level, methods
        self._seed, self._begin = seed, begin
        self._log_m = math.log(max(len(level.indices) // 2, 1))
        self.evidence: dict[int, list[float]] = {}
        self.reliable: dict[int, list[bool]] = {}

    def penalty(self, k: int) -> list[float]:
        """Return the cost of the rates of k communities in each model, in nats."""
        numbers = [k if method.rates == "own" else 1 for method in self._methods]
        return [0.5 * number * self._log_m if k > 1 else 0.0 for number in numbers]

    def score(self, k: int) -> float:
        """Return the logarithm of the mean over the models of evidence less penalty."""
        each = zip(self.evidence[k], self.penalty(k), self.reliable[k], strict=True)
        scores = [evidence - penalty if counts else -math.inf for evidence, penalty, counts in each]
        return float(np.logaddexp.reduce(scores)) - math.log(len(scores))

    def add(self, k: int) -> None:
        """Infer k communities, from eigenvectors."""
        if k in self.evidence:
            return
        if k < 2:
            self.evidence[k] = [0.0] * len(self._methods)
            self.reliable[k] = [True] * len(self._methods)
            return
        self._begin(f"inferring {k} communities")
        # The same stream for each k: the result does not depend on what else was tried.
        z = spectral_start(self._graph, k, np.random.default_rng(self._seed))
        found = [method.infer(self._level, z, k, alike=True) for method in self._methods]
        self.evidence[k] = [each.evidence for each in found]
        self.reliable[k] = [
            each.residual <= _MOST_RESIDUAL and math.isfinite(each.evidence) for each in found
        ]

    def walk(self, low: int, high: int, most: int) -> bool:
        """Try 1, ``low`` to ``high``, and beyond both until the rest is negligible.

        Large numbers are tried in steps first, and then one by one around the best. Returns
        whether ``most`` was reached before the rest was negligible.
        """
        self.add(1)
        k = low
        while k < high:
            self.add(k)
            k += _step(k)
        self.add(high)
        ended = self._leave(high, 1, most, coarse=True)
        self._leave(low, -1, most, coarse=True)
        before = 0
        while before != self.best:
            before = self.best
            ended = self._leave(before, 1, most) and ended
            self._leave(before, -1, most)
        return not ended

    @property
    def best(self) -> int:
        """The number with the largest score so far."""
        return max(sorted(self.evidence), key=self.score)

    def _leave(self, k: int, direction: int, most: int, *, coarse: bool = False) -> bool:
        """Try numbers beyond k until several in a row are negligible; tell if that was reached."""
        negligible = 0
        while negligible < _PATIENCE:
            k += direction * (_step(k) if coarse else 1)
            if not 1 <= k <= most:
                return k < 1
            self.add(k)
            far = self.score(k) < self.score(self.best) - _NEGLIGIBLE
            negligible = negligible + 1 if far else 0
        return True


def _step(k: int) -> int:
    """Return the distance to the next number that is tried first: 1 up to 31, then about 6 %."""
    return max(1, k // 16)


def _shown_ranges(values: list[int]) -> str:
    """Return rising numbers as text, with consecutive ones as a range."""
    ends = [i for i in range(len(values)) if values[i] + 1 not in values[i + 1 : i + 2]]
    starts = [0, *(i + 1 for i in ends[:-1])]
    pairs = ((values[i], values[j]) for i, j in zip(starts, ends, strict=True))
    return ", ".join(f"{a} to {b}" if a < b else f"{a}" for a, b in pairs)


def _shown_steps(steps: tuple[Step, ...]) -> str:
    """Return the counts with the range of r over which each of them was found."""
    parts: list[str] = []
    start = 0
    for end in range(1, len(steps) + 1):
        if end < len(steps) and steps[end].k == steps[start].k:
            continue
        about = "" if all(step.is_exact for step in steps[start:end]) else "about "
        rs = [f"{steps[i].r:.3g}" for i in (start, end - 1)]
        parts.append(f"{about}{steps[start].k} at r = {' to '.join(dict.fromkeys(rs))}")
        start = end
    return ", ".join(parts)
