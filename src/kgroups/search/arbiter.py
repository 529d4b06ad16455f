"""Candidates for the communities of one component, and the decision between them."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.multilevel import Level
from kgroups.posterior import BeliefPropagation, Posterior
from kgroups.search.settings import SIGNIFICANCE

__all__ = [
    "ONE",
    "OPENED",
    "PIECES",
    "Candidate",
    "decide",
    "description_wins",
    "one_community",
    "posterior_candidate",
]

# Messages of belief propagation, each a number of 8 bytes: 320 MB.
_MOST_MESSAGES = 4e7

ONE = "there is no sign of more"
OPENED = "eigenvectors show fainter communities inside a large one"
PIECES = "groups of a few nodes with nearly all pairs linked are described better in pieces"


class Candidate(NamedTuple):
    """A partition of a connected graph, and what speaks for it.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels without gaps.
    k : int
        Number of communities.
    origin : str
        Where it comes from: "search", "eigenvectors" or "one community".
    score : float
        Nats saved against one community, all costs paid; the highest wins.
    nats : float
        Nats saved by its description.
    evidence : float or None
        Nats saved by belief propagation before parameters are paid for, where it was asked.
    """

    z: Ints
    k: int
    origin: str
    score: float
    nats: float
    evidence: float | None = None


def decide(
    searched: Candidate, n: int, propose: Callable[[Candidate], list[Candidate]]
) -> tuple[Candidate, str]:
    """Return the candidate that wins in a component of n nodes, and why.

    Where the search saves a nat per node, labels are sure and its description decides. Elsewhere
    others are proposed, and the highest score wins.
    """
    if searched.score >= n:
        return searched, description_wins(searched.nats)
    candidates = propose(searched)
    best = max(candidates, key=lambda candidate: candidate.score)
    if best.k == 1:
        return best, ONE
    if best.evidence is None and best.nats > 0.0:
        return best, description_wins(best.nats)
    if best.evidence is None:
        return best, "found by the eigenvectors, below what a description can resolve"
    seen = "the eigenvectors" if best.origin == "eigenvectors" else "the search"
    return best, (
        f"proposed by {seen}; belief propagation prefers them to one community by "
        f"{best.score:.1f} nats"
    )


def description_wins(nats: float) -> str:
    """Say why communities are taken that shorten the description."""
    return f"they shorten the description of the graph by {nats:.1f} nats"


def one_community(n: int) -> Candidate:
    """Return the candidate that there are no communities."""
    return Candidate(np.zeros(n, dtype=np.int64), 1, "one community", 0.0, 0.0)


def posterior_candidate(level: Level, candidate: Candidate, *, dense: bool) -> Candidate:
    """Return what belief propagation makes of a candidate, with the score that it gives.

    ``dense`` counts pairs as linked once at most, which matters in small dense graphs only.
    Eigenvectors need as much evidence as chance gives on one random graph in ten. Candidates with
    more messages than memory should hold are judged by their description.
    """
    if candidate.k < 2:
        return candidate
    if len(level.A.indices) * candidate.k > _MOST_MESSAGES:
        # On so large a graph the moments of the spectrum have shown structure already.
        return candidate._replace(score=max(candidate.nats, SIGNIFICANCE))
    found = BeliefPropagation().from_labels(level, candidate.z, candidate.k)
    extra = _saturation(level, found) if dense else 0.0
    evidence, score = found.evidence + extra, found.score + extra
    if candidate.origin == "eigenvectors" and not evidence > SIGNIFICANCE:
        score = -math.inf
    return Candidate(found.z, found.k, candidate.origin, score, candidate.nats, evidence)


def _saturation(level: Level, found: Posterior) -> float:
    """Return the nats that a binomial code saves more than a Poisson one."""
    from kgroups.multilevel._moving_nb import group_totals

    E, _, N = group_totals(level, found.z.astype(np.int32), found.k)
    n, m = level.strength.size, 0.5 * float(level.strength.sum())
    pairs, all_pairs = 0.5 * N * (N - 1.0), 0.5 * n * (n - 1.0)
    inside = np.append(E, m - E.sum())
    among = np.append(pairs, all_pairs - pairs.sum())
    whole = _binomial_excess(np.array([m]), np.array([all_pairs]))
    return float(_binomial_excess(inside, among).sum() - whole.sum())


def _binomial_excess(E: Floats, pairs: Floats) -> Floats:
    from scipy.special import xlogy

    empty = np.maximum(pairs - E, 0.0)
    return np.asarray(E + xlogy(empty, empty / np.maximum(pairs, 1.0)))
