"""Exactly k communities."""

from collections.abc import Callable

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.embedding import Seed, informative_eigenpairs
from kgroups.refine import Hartigan
from kgroups.refine.likelihood import planted_fit
from kgroups.report import ComponentReport
from kgroups.search.finding import EXACT_NODES
from kgroups.search.multistart import given_number
from kgroups.search.problem import Detection, Part, Problem
from kgroups.search.settings import Auto, Exact, FewGroups, ManyGroups, Regime, Search
from kgroups.search.spectral import by_filter, exact_given_k, exact_share
from kgroups.spectrum import Moments, has_structure, moments

__all__ = ["communities_given_k"]

# Communities that a filtered subspace can show: at most so many, of so many nodes each.
_MOST_FEW = 64
_FEWEST_NODES = 200


def communities_given_k(
    problem: Problem,
    k: int,
    regime: Regime,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    tell: Callable[[str], None] = lambda stage: None,
) -> Detection:
    """Find exactly ``k`` communities.

    The k largest eigenvalues of the whole graph decide how many communities each component gets;
    those of large components are known only as their moments show them. Components that get none
    join the largest community and are uninformed.
    """
    large = _by_moments(problem, regime)
    if not large.size:
        return exact_given_k(problem, k, init, refine, rng)
    tell("moments of the spectrum")
    judged = {
        a: moments(problem.part(a)[1].with_own_r(weighted=problem.uneven).bound)
        for a in large.tolist()
    }
    shares = _shared(problem, k, judged, init)
    found = Detection(np.full(problem.bound.n, -1, dtype=np.int64))
    found.visits += sum(one.visits for one in judged.values())
    entropy = int(rng.integers(2**63))
    k_total = 0
    for component in np.flatnonzero(shares).tolist():
        share = int(shares[component])
        rows, part = problem.part(component)
        stream = np.random.default_rng([entropy, component])
        if component in judged and 1 < share < len(rows):
            z, origin = _large_share(
                part.with_own_r(weighted=problem.uneven),
                judged[component],
                share,
                regime,
                init,
                refine,
                stream,
                found,
                weighted=problem.uneven,
                tell=tell,
            )
            found.components.append(
                ComponentReport(len(rows), share, origin, f"k = {share} was given")
            )
        else:
            V = np.zeros((len(rows), share))
            if 1 < share < len(rows):
                V = informative_eigenpairs(part.bound, share, init.rows)[1]
            z = exact_share(part, V, init, refine, stream, found)
        found.z[rows] = k_total + z
        k_total += share
    found.settle_uninformed()
    found.components.sort(key=lambda report: -report.n)
    return found


def _by_moments(problem: Problem, regime: Regime) -> Ints:
    """Return the components whose eigenvectors are not computed exactly."""
    if isinstance(regime, Exact):
        return np.zeros(0, dtype=np.int64)
    least = EXACT_NODES + 1 if isinstance(regime, Auto) else 6
    return np.flatnonzero(problem.sizes >= least)


def _large_share(
    part: Part,
    judged: Moments,
    share: int,
    regime: Regime,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    found: Detection,
    *,
    weighted: bool,
    tell: Callable[[str], None],
) -> tuple[Ints, str]:
    """Return the communities of a large component, by eigenvectors or by the search."""
    n = part.bound.n
    candidates: list[tuple[Ints, str]] = []
    settings = regime.search if isinstance(regime, Auto | ManyGroups) else Search()
    if not isinstance(regime, FewGroups):
        tell("merging groups step by step")
        z, visits = given_number(part.level(weighted=weighted), share, settings, rng)
        found.visits += visits
        candidates.append((z, "search"))
    few = share <= _MOST_FEW and n >= _FEWEST_NODES * share
    if isinstance(regime, FewGroups) or (few and not isinstance(regime, ManyGroups)):
        tell("filtering a subspace")
        spectral = by_filter(part, judged, init, refine, rng, k=share)
        if spectral.refinement is not None:
            found.refinements.append(spectral.refinement)
        candidates.append((spectral.z, "eigenvectors"))
    return max(candidates, key=lambda one: planted_fit(part.A, part.d, one[0], k=share).gain)


def _shared(problem: Problem, k: int, judged: dict[int, Moments], init: Seed) -> Ints:
    """Return how many of ``k`` communities each component gets.

    The largest eigenvalues decide. Of large components they are known only as the moments show
    them; what follows after those lies next below 1.
    """
    values: list[Floats] = []
    for component in range(problem.n_components):
        count = min(k, int(problem.sizes[component]))
        if component in judged:
            values.append(_supposed(judged[component], count))
        elif problem.entries[component]:
            _, part = problem.part(component)
            values.append(np.round(informative_eigenpairs(part.bound, count, init.rows)[0], 9))
        else:
            values.append(np.full(1, -np.inf))
    owner = np.repeat(np.arange(problem.n_components), [len(own) for own in values])
    top = np.argsort(-np.concatenate(values), kind="stable")[:k]
    return np.bincount(owner[top], minlength=problem.n_components)


def _supposed(judged: Moments, count: int) -> Floats:
    """Return eigenvalues of a component as its moments show them, falling."""
    shown = max(1, round(judged.k)) if has_structure(judged) else 1
    values: Floats = 1.0 - 1e-9 * np.arange(count, dtype=float)
    values[:shown] = 0.5 * (judged.s + 1.0 / judged.s)
    values[0] = max(values[0], judged.perron.value)
    return values
