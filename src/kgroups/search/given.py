"""Exactly k communities."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.embedding import Seed, informative_eigenpairs
from kgroups.operators import BetheHessian
from kgroups.refine import Hartigan
from kgroups.refine.likelihood import planted_fit
from kgroups.report import ComponentReport
from kgroups.search.finding import EXACT_NODES, FEWEST_NODES, MOST_FEW, REPORTED
from kgroups.search.multistart import given_number
from kgroups.search.problem import Detection, Options, Part, Problem
from kgroups.search.settings import (
    SIGNIFICANCE,
    Auto,
    Exact,
    FewGroups,
    ManyGroups,
    Regime,
    Search,
)
from kgroups.search.spectral import by_filter, exact_share
from kgroups.spectrum import Moments, has_structure, moments

__all__ = ["communities_given_k"]

# Degrees are uneven if their variance exceeds this many times their mean, which it equals in a
# graph without hubs.
_DISPERSION = 1.3
# There hubs crowd the upper end of the spectrum, and a filtered subspace does not part them from
# communities: eigenvectors are computed exactly up to this size, a matter of seconds.
_EXACT_NODES_UNEVEN = 20_000
# Eigenvalues of equal components differ in rounding only; they must rank as equal.
_DIGITS = 9


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
    join the largest community and are uninformed. With another ``init`` or ``refine`` than the
    default, eigenvectors are asked alone where they can be had.
    """
    options = Options(regime, init, refine, problem.uneven, tell)
    found = Detection(np.full(problem.bound.n, -1, dtype=np.int64))
    judged: dict[int, Moments] = {}
    large = _by_moments(problem, regime).tolist()
    if large:
        tell("moments of the spectrum")
    for component in large:
        part = problem.part(component)[1].with_own_r(weighted=problem.uneven)
        judged[component] = moments(part.bound)
        found.visits += judged[component].visits
    shares, vectors = _shares(problem, k, judged, init)
    entropy = int(rng.integers(2**63))
    k_total = 0
    for component in np.flatnonzero(shares).tolist():
        share = int(shares[component])
        rows, part = problem.part(component)
        stream = np.random.default_rng([entropy, component])
        V = vectors[component][:, :share] if component in vectors else None
        if component in judged:
            part = part.with_own_r(weighted=problem.uneven)
        one = _Share(part, share, options, stream, found)
        z, origin = one.communities(judged.get(component), V)
        report = ComponentReport(len(rows), share, origin, f"k = {share} was given")
        found.components.append(report)
        found.z[rows] = k_total + z
        k_total += share
    found.settle_uninformed()
    found.components.sort(key=lambda report: -report.n)
    del found.components[REPORTED:]
    return found


def _by_moments(problem: Problem, regime: Regime) -> Ints:
    """Return the components whose eigenvectors are not computed exactly."""
    if isinstance(regime, Exact):
        return np.zeros(0, dtype=np.int64)
    least = EXACT_NODES + 1 if isinstance(regime, Auto) else 6
    return np.flatnonzero(problem.sizes >= least)


class _Share(NamedTuple):
    """A connected part, and how many communities it gets."""

    part: Part
    k: int
    options: Options
    rng: np.random.Generator
    found: Detection

    def communities(self, judged: Moments | None, V: Floats | None) -> tuple[Ints, str]:
        """Return the communities by eigenvectors or by the search, and which it was.

        The planted likelihood decides where both are asked. ``judged`` are the moments of a large
        part, ``V`` the eigenvectors of a small one.
        """
        n, regime = self.part.bound.n, self.options.regime
        if self.k in (1, n):
            return np.arange(n) % self.k, "eigenvectors"
        few = self.k <= MOST_FEW and n >= FEWEST_NODES * self.k
        candidates = []
        if V is not None:
            candidates.append((self._exact(self.part, V), "eigenvectors"))
        elif judged is not None and (
            isinstance(regime, FewGroups) or (few and isinstance(regime, Auto))
        ):
            candidates.append((self._filtered(judged), "eigenvectors"))
        if candidates and self.options.chosen:
            return candidates[0]
        if isinstance(regime, Auto) and self._is_uneven():
            candidates.append((self._at_nonbacktracking_radius(), "eigenvectors"))
        if isinstance(regime, Auto | ManyGroups):
            candidates.append((self._searched(regime.search), "search"))
        A, d = self.part.A, self.part.d
        gain = [planted_fit(A, d, z, k=self.k).gain for z, _ in candidates]
        # Another one must be ten times as likely: a near-tie is left to the first.
        gain[0] += SIGNIFICANCE
        return candidates[int(np.argmax(gain))]

    def _is_uneven(self) -> bool:
        """Tell if r should be the root of the non-backtracking radius, and that can be had."""
        d, bound = np.diff(self.part.A.indptr), self.part.bound
        affordable = self.k <= MOST_FEW and bound.n <= _EXACT_NODES_UNEVEN
        uneven = bool(d.var() > _DISPERSION * d.mean())
        return bound.r_choice == "mean-degree" and affordable and uneven

    def _at_nonbacktracking_radius(self) -> Ints:
        A, d = self.part.A, self.part.d
        bound = BetheHessian("nonbacktracking").bind(A, weighted=self.options.weighted)
        V = informative_eigenpairs(bound, self.k, self.options.init.rows)[1]
        return self._exact(Part(A, d, bound), V)

    def _exact(self, part: Part, V: Floats) -> Ints:
        options = self.options
        return exact_share(part, V, options.init, options.refine, self.rng, self.found)

    def _filtered(self, judged: Moments) -> Ints:
        options = self.options
        options.tell("filtering a subspace")
        spectral = by_filter(self.part, judged, options.init, options.refine, self.rng, k=self.k)
        if spectral.refinement is not None:
            self.found.refinements.append(spectral.refinement)
        return spectral.z

    def _searched(self, settings: Search) -> Ints:
        self.options.tell("merging groups step by step")
        level = self.part.level(weighted=self.options.weighted)
        z, visits = given_number(level, self.k, settings, self.rng)
        self.found.visits += visits
        return z


def _shares(
    problem: Problem, k: int, judged: dict[int, Moments], init: Seed
) -> tuple[Ints, dict[int, Floats]]:
    """Return how many of ``k`` communities each component gets, and eigenvectors of small ones.

    The largest eigenvalues decide. Of large components they are known only as the moments show
    them; what follows after those lies next below 1. Isolated nodes come last: they are
    communities of their own only when nothing else is left.
    """
    values: list[Floats] = []
    vectors: dict[int, Floats] = {}
    for component in range(problem.n_components):
        count = min(k, int(problem.sizes[component]))
        if component in judged:
            values.append(_supposed(judged[component], count))
        elif problem.entries[component]:
            bound = problem.part(component)[1].bound
            lam, vectors[component] = informative_eigenpairs(bound, count, init.rows)
            values.append(np.round(lam, _DIGITS))
        else:
            values.append(np.full(1, -np.inf))
    owner = np.repeat(np.arange(problem.n_components), [len(own) for own in values])
    top = np.argsort(-np.concatenate(values), kind="stable")[:k]
    return np.bincount(owner[top], minlength=problem.n_components), vectors


def _supposed(judged: Moments, count: int) -> Floats:
    """Return eigenvalues of a component as its moments show them, falling."""
    shown = max(1, round(judged.k)) if has_structure(judged) else 1
    values: Floats = 1.0 - 1e-9 * np.arange(count, dtype=float)
    values[:shown] = 0.5 * (judged.s + 1.0 / judged.s)
    values[0] = max(values[0], judged.perron.value)
    return values
