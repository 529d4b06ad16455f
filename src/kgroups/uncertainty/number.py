"""How sure the number of communities is: the probability of each, compared as detection does."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from kgroups._blas import DENSE
from kgroups._output import html_result, html_table
from kgroups._progress import StageProgress, interrupts_restored, stage_progress
from kgroups._types import Bools, Floats, Ints, Symmetrize
from kgroups._validation import RngLike, as_rng, check_k, check_real
from kgroups._wording import argument, counted
from kgroups.adapters import as_graph
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.hartigan import Hartigan, KMeansInit
from kgroups.report import how_clearly
from kgroups.search import (
    ANY_SAVING_NODES,
    Auto,
    ComponentNumbers,
    Options,
    decide,
    numbers_of_communities,
    prepare,
    propose,
)
from kgroups.spectrum import Spectrum, spectrum_of_graph

__all__ = ["KDistribution", "k_distribution"]

# Weights of this many nats less than the largest are left out of sums over components.
_LEFT_OUT = 40.0
# The summary lists values of k with at least this probability, the most probable ones first, and
# never calls one certain.
_SHOWN_PROBABILITY = 0.005
_MOST_SHOWN = 6
# Numbers with a smaller probability are not mentioned in sentences.
_LIKELY = 0.05
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
        The numbers of communities that were compared, in increasing order.
    probabilities : ndarray of float, read-only
        Their probabilities; those of all others are taken to be 0.
    nats : ndarray of float, read-only
        The nats by which the best communities of each number describe the graph better than one
        community in each component. Probabilities are in proportion to their exponentials.
    converged : ndarray of bool, read-only
        Whether the nats rest on a description, or on belief propagation that has converged. Where
        it has not, its evidence is capped at that of the best number.
    k_found : int
        The number of communities that :func:`detect_communities` returns.
    compared_by : {"description", "evidence"}
        How numbers were compared in the largest component: by the description length or, below
        what that can resolve, by the evidence of belief propagation.
    dispersion : float
        What the evidence of edges was divided by, because edges are correlated.
    n, m : int
        Nodes and edges, without self-loops.
    explanation : str
        Why the most probable number is not ``k_found``, in a sentence; empty if it is.
    limited : bool
        Whether the comparison ended because of ``max_work``.
    graph : Graph
        The graph.

    Notes
    -----
    The probabilities are relative weights under one model. They are not calibrated: on graphs that
    no block model describes they are too sharp. Read them beside the eigenvalue counts.
    """

    k_values: Ints
    probabilities: Floats
    nats: Floats
    converged: Bools
    k_found: int
    compared_by: Literal["description", "evidence"]
    dispersion: float
    n: int
    m: int
    explanation: str = ""
    limited: bool = False
    graph: Graph = field(default_factory=lambda: Graph.from_edges([], []))

    @property
    def k(self) -> int:
        """The most probable number of communities."""
        # Of equal ones, one whose evidence is known, or else the one that detection finds.
        found = self.k_values == self.k_found
        return int(self.k_values[np.lexsort((found, self.converged, self.probabilities))[-1]])

    def probability(self, k: int) -> float:
        """Return the probability of a number of communities, 0 if it was not compared."""
        return float(self.probabilities[self.k_values == k].sum())

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenvalue counts at three choices of r, as :func:`kgroups.estimate_k` gives them.

        Computed at the first access, which on large graphs takes longer than the comparison.
        """
        return spectrum_of_graph(self.graph)

    def about(self, k: int) -> str:
        """Return a sentence on how sure a number of communities is.

        Parameters
        ----------
        k : int
            The number of communities of a partition.

        Returns
        -------
        str
            It names the numbers with a probability of at least a twentieth, those next to the best
            whose evidence has not converged, and the reason if ``k`` is not the most probable one.
        """
        order = np.argsort(-self.probabilities, kind="stable")
        likely = [
            one
            for one in self.k_values[order].tolist()
            if one not in (k, self.k) and self.probability(one) >= _LIKELY
        ]
        shown = self._shown(self.k)
        parts = [f"P {'' if shown.startswith('>') else '= '}{shown}"]
        parts += [f"{one}: {self._shown(one)}" for one in ([] if k == self.k else [k]) + likely]
        rough = [one for one in (self.k - 1, self.k + 1) if one in self.k_values[~self.converged]]
        if rough:
            parts.append(f"less sure for {' and '.join(map(str, rough))}")
        if self.limited:
            parts.append("others may be as probable")
        why = ""
        if k == self.k_found != self.k:
            why = f": {self.explanation}"
        elif k not in (self.k, self.k_found):
            why = f": detect_communities finds {self.k_found} with its defaults"
        return f"{self.k} is the most probable number ({'; '.join(parts)}){why}."

    def lines(self) -> list[str]:
        """Return the summary: P(k), what it rests on, and eigenvalue counts if they are known."""
        same = ", as detect_communities finds" if self.k == self.k_found else ""
        lines = [
            f"most probable: {counted(self.k, 'community', 'communities')}{same}",
            f"P(k): {self._shown_probabilities()} (compared: {_shown_ranges(self.k_values)})",
        ]
        if self.explanation:
            lines.append(self.explanation)
        known = vars(self)
        if "spectrum" in known:
            counts = [f"{k} ({_CHOICES[choice]})" for choice, k in self.spectrum.shown_k_at.items()]
            lines.append(f"the spectrum shows {', '.join(counts)}")
        by = "the description length"
        if self.compared_by == "evidence":
            by = "the evidence of belief propagation"
        lines.append(f"compared by {by}, as in detect_communities")
        rough = self.k_values[~self.converged]
        if rough.size:
            lines.append(
                f"belief propagation did not converge for k = {_shown_ranges(rough)}: "
                "less sure than the rest"
            )
        if self.limited:
            lines.append(
                "more numbers may be as probable: the work allowed by "
                f"{argument('max_work')} was spent"
            )
        lines.append("P(k) holds given the model; it is not a calibrated probability")
        return lines

    def _shown_probabilities(self) -> str:
        order = np.argsort(-self.probabilities, kind="stable")[:_MOST_SHOWN]
        shown = [i for i in order.tolist() if self.probabilities[i] >= _SHOWN_PROBABILITY]
        return ", ".join(
            f"{self.k_values[i]}: {self._shown(int(self.k_values[i]))}" for i in sorted(shown)
        )

    def _shown(self, k: int) -> str:
        """Return a probability with two digits; none is certain where others can be."""
        p = self.probability(k)
        certain = self.k_values.size == 1 and not self.limited
        return "> 0.99" if p >= 0.995 and not certain else f"{p:.2f}"

    def __str__(self) -> str:
        nodes, edges = counted(self.n, "node"), counted(self.m, "edge")
        return "\n  ".join([f"Number of communities of {nodes} and {edges}", *self.lines()])

    def __repr__(self) -> str:
        return f"KDistribution(k={self.k}, P(k)={{{self._shown_probabilities()}}})"

    def _repr_html_(self) -> str:
        head, *lines = str(self).split("\n  ")
        order = np.argsort(-self.probabilities, kind="stable")[:_MOST_SHOWN]
        rows = [
            [k, self._shown(k), nats, "" if converged else "not converged"]
            for k, nats, converged in zip(
                self.k_values[np.sort(order)].tolist(),
                self.nats[np.sort(order)].tolist(),
                self.converged[np.sort(order)].tolist(),
                strict=True,
            )
        ]
        header = ["communities", "probability", "nats", ""]
        return html_result(head, lines, html_table(header, rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as plain values that JSON can hold."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        del values["graph"]
        record = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }
        spectrum = vars(self).get("spectrum")
        shown = None if spectrum is None else spectrum.to_dict()
        return {"k": self.k, **record, "spectrum": shown}


@interrupts_restored()
def k_distribution(
    graph: Any,
    k_values: Iterable[int] | None = None,
    *,
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
    max_work: float = 20.0,
    rng: RngLike = None,
    progress: StageProgress = False,
) -> KDistribution:
    r"""Return how probable each number of communities of a graph is.

    Parameters
    ----------
    graph : as for :func:`detect_communities`
        Self-loops are dropped.
    k_values : iterable of int, optional
        The numbers of communities to compare; those that the graph cannot have are left out. By
        default the number that
        :func:`detect_communities` finds, and those next to it until their probability is
        negligible.
    weight, symmetrize
        As for :func:`detect_communities`.
    max_work : float
        The comparison ends after this many times the work of detection, but not before it has
        taken about a quarter of a second. With ``k_values`` there is no limit.
    rng : int, Generator or None
        As for :func:`detect_communities`.
    progress : bool or callable
        ``True`` shows the number that is tried; a function receives it as a sentence.

    Returns
    -------
    KDistribution
        Prints as a short summary.

    Raises
    ------
    InputError
        If an argument is invalid, or none of ``k_values`` is possible.

    Notes
    -----
    Numbers are compared as :func:`detect_communities` compares its candidates, and its communities
    are among them. In each component, where these save at least a nat per node, the nats
    :math:`\Phi_k` are those that the best k communities save in the description of the graph.
    Elsewhere they are evidence by belief propagation, for communities of the search and those of
    eigenvectors. Then

    .. math:: P(k) \propto \sum_{k_1 + k_2 + \dots = k} \exp(\Phi_{k_1} + \Phi_{k_2} + \dots)

    over the numbers of communities of the components. Fewer communities than found are obtained by
    merging these, more by splitting these in two and by merging small groups.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> found = kg.k_distribution(nx.karate_club_graph(), weight=None)
    >>> found.k, found.spectrum.k_at["mean-degree"]
    (2, 2)
    """
    check_real("max_work", max_work, low=0.0, finite=False)
    given = as_graph(graph, weight=weight, symmetrize=symmetrize)
    chosen = None if k_values is None else _checked_values(k_values, given.n)
    method, stream = Auto(), as_rng(rng)
    with stage_progress(progress=progress) as begin:
        problem = prepare(given).problem
        contest = propose(problem, Options(method, KMeansInit(), Hartigan(), begin), stream)
        decide(contest, stream)
        numbers, limited = numbers_of_communities(
            contest,
            method.search,
            stream,
            k_values=chosen,
            max_work=max_work if chosen is None else math.inf,
            progress=begin,
        )
    first, nats, known = _summed(numbers, math.inf if chosen else _LEFT_OUT)
    values = first + np.flatnonzero(np.isfinite(nats))
    if chosen is not None:
        values = np.intersect1d(values, chosen)
    if not values.size:
        k_found = sum(one.found for one in numbers)
        msg = (
            f"{argument('k_values')} must hold a number that this graph can have, got "
            f"{', '.join(map(str, chosen or [0]))}.\n"
            f"  Each of {counted(len(numbers), 'component')} has at least one community, and trees "
            f"and components of at most {ANY_SAVING_NODES} nodes have one number of them. Include "
            f"{k_found}, the number that is found."
        )
        raise InputError(msg)
    nats, known = nats[values - first], known[values - first]
    weights = np.exp(nats - nats.max())
    largest = numbers[int(np.argmax(problem.sizes))] if numbers else None
    found = KDistribution(
        values,
        weights / weights.sum(),
        nats,
        # Converged if evidence that is not known adds less than what is known.
        nats - known < math.log(2.0),
        k_found=sum(one.found for one in numbers),
        compared_by="evidence" if largest is not None and largest.evidence else "description",
        dispersion=contest.found.dispersion,
        n=given.n,
        m=int(problem.entries.sum()) // 2,
        limited=limited,
        graph=given,
    )
    for array in (found.k_values, found.probabilities, found.nats, found.converged):
        array.flags.writeable = False
    vars(found)["explanation"] = _explanation(found, numbers)
    if given.n <= DENSE.counts:
        _ = found.spectrum
    return found


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


def _summed(
    numbers: Sequence[ComponentNumbers], left_out: float = _LEFT_OUT
) -> tuple[int, Floats, Floats]:
    """Return the nats of all components together, from a first number on, and those known.

    Numbers with ``left_out`` nats less than the best may be left out.
    """
    first, nats, known = 0, np.zeros(1), np.zeros(1)
    for one in numbers:
        if len(one.nats) + len(one.rough) == 1:
            first += one.found
            continue
        start, added, added_known = one.weights()
        first += start
        if nats.size == 1:
            nats, known = nats[0] + added, known[0] + added_known
            continue
        nats, known = _log_convolved(nats, added), _log_convolved(known, added_known)
        kept = np.flatnonzero(nats > nats.max() - left_out)
        some = slice(int(kept[0]), int(kept[-1]) + 1)
        first, nats, known = first + some.start, nats[some], known[some]
    return first, nats, known


def _log_convolved(a: Floats, b: Floats) -> Floats:
    """Return the logarithms of the convolution of two arrays whose logarithms are given."""
    short, long = sorted((a, b), key=len)
    found = np.full(a.size + b.size - 1, -np.inf)
    for start, log in enumerate(short.tolist()):
        some = slice(start, start + long.size)
        found[some] = np.logaddexp(found[some], log + long)
    return found


def _explanation(found: KDistribution, numbers: Sequence[ComponentNumbers]) -> str:
    """Return why the most probable number is not that of detection."""
    if found.k == found.k_found:
        return ""
    start = f"detect_communities returns {found.k_found}"
    if found.k_found not in found.k_values:
        return f"{start}, which was not to be compared"
    better = [one for one in numbers if one.best > one.nats[one.found]]
    if not better:
        return f"{start}, the most probable number of each component by itself"
    one = max(better, key=lambda one: one.best - one.nats[one.found])
    best = max(one.nats, key=one.nats.__getitem__)
    where = "" if len(numbers) == 1 else " in one component"
    why = "; more numbers were tried here, and"
    if one.evidence and not one.asked:
        why = " because the spectrum shows no more than one, but"
    nats = one.best - one.nats[one.found]
    return (
        f"{start}{why} {counted(best, 'community describes', 'communities describe')} the graph "
        f"{how_clearly(nats)} better than {one.found}{where} (by {nats:.1f} nats)"
    )


def _shown_ranges(values: Ints) -> str:
    """Return increasing numbers as text, with consecutive ones as a range."""
    breaks = np.flatnonzero(np.diff(values) != 1) + 1
    runs = [(int(run[0]), int(run[-1])) for run in np.split(values, breaks)]
    return ", ".join(f"{a} to {b}" if a < b else f"{a}" for a, b in runs)
