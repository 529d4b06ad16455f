"""The posterior of a graph: how probable each community is for each node, given their number."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._progress import Progress, counted_progress, interrupts_restored
from kgroups._types import CSR, Floats, Ints, Symmetrize
from kgroups._validation import RngLike, check_choice, check_k, check_real
from kgroups._wording import argument, counted, in_python
from kgroups.adapters import as_graph
from kgroups.adapters.labels import as_labels
from kgroups.detect import detect_communities
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.inference import (
    BeliefPropagation,
    Degrees,
    better_fit,
    model_in_words,
)
from kgroups.partition import Partition
from kgroups.search import EXACT_NODES_UNEVEN, Auto, Spectral, prepare
from kgroups.spectrum import BetheHessian, degrees_are_uneven

__all__ = [
    "Posterior",
    "Rates",
    "check_messages",
    "degree_dispersion",
    "posterior",
    "spectral_start",
]

Rates: TypeAlias = Literal["auto", "planted", "own"]
# Nodes that are less sure than this are counted by the repr.
_SURE = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """How likely each node of a graph is to belong to each community.

    Attributes
    ----------
    partition : Partition
        The most probable community of each node, or the communities that inference started from
        if ``accepted`` is False.
    marginals : ndarray of shape (n, k)
        Probability of each community for each node, in node order. Column a is community a of
        ``partition``; communities that are nobody's most probable one come last.
    inside : ndarray of shape (k,)
        Rate of edges inside each community, relative to a graph without communities.
    between : float
        Rate of edges between communities.
    prior : ndarray of shape (k,)
        Share of the nodes that each community is expected to have.
    free_energy : float
        Bethe free energy: the nats by which these communities describe the graph better than one
        community, before the cost of their parameters.
    residual : float
        Mean change of a node's probabilities in the last sweep.
    converged : bool
        Whether the residual is within the tolerance.
    sweeps : int
        Sweeps over all nodes.
    rates : {"planted", "own"}
        Whether communities share one rate inside.
    degree_corrected : bool
        Whether the model corrects for degrees; otherwise all nodes are alike.
    dispersion : float
        Variance of the degrees over their mean, which is 1 for edges at random.
    accepted : bool
        Whether the most probable communities are taken: none of them is empty, and their planted
        profile likelihood is higher than that of the communities that inference started from.

    Notes
    -----
    Probabilities hold given the model and the number of communities. They are not calibrated
    against labels from elsewhere.
    """

    partition: Partition
    marginals: Floats
    inside: Floats
    between: float
    prior: Floats
    free_energy: float
    residual: float
    converged: bool
    sweeps: int
    rates: Literal["planted", "own"]
    degree_corrected: bool
    dispersion: float
    accepted: bool

    @property
    def labels(self) -> Ints:
        """Community of each node, in node order."""
        return self.partition.labels

    @property
    def confidence(self) -> Floats:
        """Probability of the community that each node is in."""
        return self.marginals[np.arange(self.labels.size), self.labels]

    @property
    def model(self) -> str:
        """The block model in words."""
        return model_in_words(self.rates, degree_corrected=self.degree_corrected)

    def __repr__(self) -> str:
        n, k = self.marginals.shape
        shown = [f"{rate:.3g}" for rate in np.sort(self.inside)]
        inside = " to ".join(sorted({*shown[:1], *shown[-1:]}, key=float))
        sure = self.confidence
        labels = "the most probable ones" if self.accepted else "those that inference started from"
        lines = [
            f"Posterior({counted(k, 'community', 'communities')} of {counted(n, 'node')})",
            f"labels: {labels}; mean confidence {sure.sum() / max(n, 1):.3f}, "
            f"{counted(int(np.count_nonzero(sure < _SURE)), 'node')} below {_SURE}",
            f"model: {self.model}; degrees vary {self.dispersion:.1f} times as much as at random",
            f"edges: {inside or '0'} times as many inside communities as without them, "
            f"{self.between:.3g} times between",
            "evidence over one community, before the cost of parameters: "
            f"{self.free_energy:.1f} nats",
            f"{'converged' if self.converged else 'not converged'} after {self.sweeps} sweeps, "
            f"residual {self.residual:.1g}",
        ]
        return "\n  ".join(lines)


@interrupts_restored()
def posterior(
    graph: Any,
    k: int | None = None,
    *,
    partition: Any = None,
    rates: Rates = "auto",
    degrees: Degrees = "auto",
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
    em_steps: int = 12,
    max_sweeps: int = 100,
    tolerance: float = 1e-3,
    max_messages: float = 5e8,
    rng: RngLike = None,
    progress: Progress = False,
) -> Posterior:
    """Infer how likely each node is to belong to each community, by belief propagation.

    Parameters
    ----------
    graph : as for :func:`detect_communities`
        Self-loops are dropped.
    k : int, optional
        Number of communities. Inference starts from eigenvectors.
    partition : Partition, sets of nodes, labels in node order, or dict from node to label, optional
        Communities to start from, instead of ``k``. Without both, those of
        :func:`detect_communities` are taken.
    rates : {"auto", "planted", "own"}
        ``"planted"``: one rate of edges inside all communities, which have equal expected sizes.
        ``"own"``: a rate for each community, and sizes learned. ``"auto"`` is ``"planted"`` with
        ``k`` given, which is best near the threshold of detection, and otherwise ``"own"``.
    degrees : {"auto", "corrected", "uniform"}
        Whether the model corrects for degrees, or all nodes are alike. ``"auto"`` corrects if the
        variance of the degrees exceeds 1.3 times their mean.
    weight, symmetrize
        As for :func:`detect_communities`. An edge of weight w counts as w edges, in units in which
        weights vary like counts.
    em_steps : int
        Number of times that rates are learned.
    max_sweeps : int
        Largest number of sweeps over all nodes at the rates learned last.
    tolerance : float
        Mean change of a node's probabilities in a sweep at which they have converged.
    max_messages : float
        Messages, which are two for each edge times the number of communities, that memory should
        hold. Each takes 8 bytes.
    rng : int, Generator or None
        Randomness of the communities to start from; ``None`` is a fixed stream.
    progress : bool or callable
        ``True`` draws a bar; a function receives the sweeps done and their largest number.

    Returns
    -------
    Posterior
        Marginals, the partition of the most probable communities, rates, and free energy.

    Raises
    ------
    InputError
        If an argument is invalid, both ``k`` and ``partition`` are given, or there are more than
        ``max_messages``.

    Notes
    -----
    A sweep takes time in proportion to (n + m) k, and 16 m k bytes hold the messages. On large
    graphs with many communities, :meth:`Partition.confidence` takes less of both.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> found = kg.posterior(nx.karate_club_graph(), 2, weight=None)
    >>> found.marginals.shape, found.degree_corrected
    ((34, 2), True)
    """
    check_choice("rates", rates, ("auto", "planted", "own"))
    if k is not None and partition is not None:
        msg = (
            f"{argument('k')} and partition must not both be given: the number of communities is "
            f"that of the partition.\n  Leave one of them out."
        )
        raise InputError(msg)
    if rates == "auto":
        rates = "own" if k is None else "planted"
    check_real("max_messages", max_messages, low=0.0, finite=False)
    method = BeliefPropagation(
        rates=rates,
        degrees=degrees,
        em_steps=em_steps,
        max_sweeps=max_sweeps,
        tolerance=tolerance,
    )
    given = as_graph(graph, weight=weight, symmetrize=symmetrize)
    ready = prepare(given)
    level = ready.problem.level
    if partition is not None:
        start = as_labels(partition, given)
    elif k is None:
        start = detect_communities(given, rng=rng).labels
    else:
        start = spectral_start(given, check_k(k, given.n), rng)
    z = np.unique(ready.sorted(start), return_inverse=True)[1]
    count = int(z.max(initial=-1)) + 1
    check_messages(len(level.indices), count, max_messages)
    with counted_progress(method.most_sweeps, "sweep", progress=progress) as tell:
        found = method.infer(level, z, count, progress=tell)
        tell(method.most_sweeps)
    best = np.argmax(found.marginals, axis=1) if given.n else z
    corrected = method.corrects(level)
    accepted = np.array_equal(best, z) or better_fit(
        level, best, z, count, degree_corrected=corrected
    )
    labels = ready.restored(best if accepted else z)
    marginals = ready.restored(found.marginals)
    named = Partition(labels, given.nodes, graph=given)
    columns = _columns(labels, named.labels, count)
    return Posterior(
        named,
        marginals[:, columns],
        found.rates.inside[columns],
        found.rates.between,
        found.rates.prior[columns],
        free_energy=found.evidence,
        residual=found.residual,
        converged=found.converged,
        sweeps=found.sweeps,
        rates=rates,
        degree_corrected=corrected,
        dispersion=degree_dispersion(level.A),
        accepted=accepted,
    )


def check_messages(entries: int, k: int, limit: float) -> None:
    """Raise if belief propagation would hold more messages than a limit."""
    if entries * k > limit:
        msg = (
            f"belief propagation holds {entries} x {k} messages here, which is more than "
            f"max_messages={limit:.0e}.\n  Pass a smaller {argument('k')} or a larger limit"
            f"{in_python(', or call partition.confidence(), which samples instead')}."
        )
        raise InputError(msg)


def degree_dispersion(A: CSR) -> float:
    """Return the variance of the degrees over their mean, 0 without edges."""
    d = np.diff(A.indptr)
    return float(d.var() / d.mean()) if len(A.indices) else 0.0


def spectral_start(graph: Graph, k: int, rng: RngLike) -> Ints:
    """Return labels from eigenvectors, at the non-backtracking radius if degrees are uneven."""
    if not degrees_are_uneven(graph.simple_adjacency()):
        return detect_communities(graph, k, refine=None, rng=rng).labels
    return detect_communities(
        graph,
        k,
        operator=BetheHessian("nonbacktracking"),
        method=Spectral("exact") if graph.n <= EXACT_NODES_UNEVEN else Auto(),
        refine=None,
        rng=rng,
    ).labels


def _columns(before: Ints, after: Ints, k: int) -> Ints:
    """Return the column of each community under its new number; unused columns come last."""
    rank = np.full(k, k, dtype=np.int64)
    rank[before] = after
    return np.argsort(rank, kind="stable")
