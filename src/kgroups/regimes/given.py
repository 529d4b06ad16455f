"""Exactly k communities, on graphs with components too large for all eigenvectors."""

from collections.abc import Callable

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import Floats, Ints
from kgroups.refine import Hartigan
from kgroups.regimes.choice import FewGroups, ManyGroups, Regime, affordable
from kgroups.regimes.core import Core
from kgroups.regimes.exact import exact_given_k, exact_share
from kgroups.regimes.few import few_communities
from kgroups.regimes.finding import by_moments, signal_of
from kgroups.regimes.many import many_given_k
from kgroups.regimes.problem import Found, Part, Problem
from kgroups.report import SearchReport
from kgroups.seed import Seed, informative_eigenpairs
from kgroups.spectrum import Moments, has_structure, moments

__all__ = ["communities_given_k"]

_LEAST_CORE = 0.7


def communities_given_k(
    problem: Problem,
    k: int,
    regime: Regime,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    tell: Callable[[str], None] = lambda stage: None,
) -> Found:
    """Find exactly ``k`` communities.

    The k largest eigenvalues of the whole graph decide how many communities each component gets;
    those of large components are known only as their moments show them. Components that get none
    join the largest community and are uninformed.
    """
    large = by_moments(problem, regime, trees=True)
    if not large.size:
        return exact_given_k(problem, k, init, refine, rng)
    tell("moments of the spectrum")
    judged = {a: moments(_with_own_r(problem, a).bound) for a in large.tolist()}
    shares = _shared(problem, k, judged, init)
    found = Found(np.full(problem.bound.n, -1, dtype=np.int64))
    found.visits += sum(one.visits for one in judged.values())
    entropy = int(rng.integers(2**63))
    k_total = 0
    for component in np.flatnonzero(shares).tolist():
        share = int(shares[component])
        rows, part = problem.part(component)
        stream = np.random.default_rng([entropy, component])
        if component in judged and 1 < share < len(rows):
            z = _large_share(
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
        else:
            if component in judged:
                found.searches.append(
                    SearchReport("ManyGroups", f"k = {share} was given", len(rows), share)
                )
            V = np.zeros((len(rows), share))
            if 1 < share < len(rows):
                V = informative_eigenpairs(part.bound, share, init.rows)[1]
            z = exact_share(part, V, init, refine, stream, found)
        found.z[rows] = k_total + z
        k_total += share
    found.settle_uninformed()
    return found


def _with_own_r(problem: Problem, component: int) -> Part:
    return problem.part(component)[1].with_own_r(weighted=problem.uneven)


def _large_share(
    part: Part,
    judged: Moments,
    share: int,
    regime: Regime,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    found: Found,
    *,
    weighted: bool,
    tell: Callable[[str], None],
) -> Ints:
    n = part.bound.n
    chosen = regime
    if not isinstance(regime, FewGroups | ManyGroups):
        # Leaves of one hub have rows of their own in an embedding, and take communities for them.
        mostly_core = Core(without_diagonal(part.A)).n >= _LEAST_CORE * n
        chosen = FewGroups() if mostly_core and affordable(share, n) else ManyGroups()
    if isinstance(chosen, FewGroups):
        tell("filtering a subspace")
        few = few_communities(part, judged, init, refine, rng, k=share)
        found.visits += few.visits
        if few.refinement is not None:
            found.refinements.append(few.refinement)
        z = few.z
    else:
        tell("merging groups step by step")
        many = many_given_k(part, judged, share, rng, weighted=weighted, tell=tell)
        found.visits += many.visits
        z = many.z
    found.searches.append(
        SearchReport(type(chosen).__name__, f"k = {share} was given", n, share, **signal_of(judged))
    )
    return z


def _shared(problem: Problem, k: int, judged: dict[int, Moments], init: Seed) -> Ints:
    """Return how many of ``k`` communities each component gets.

    As in the exact regime the largest eigenvalues decide. Of large components they are known only
    as the moments show them; what follows after those lies next below 1.
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
