"""Find exactly k communities."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.hartigan import Init, informative_eigenpairs, planted_fit
from kgroups.inference import BeliefPropagation, better_fit, parameter_cost
from kgroups.report import ComponentReport
from kgroups.search.arbiter import REPORTED, decide, nats_in_component
from kgroups.search.candidates import (
    MAX_MESSAGES,
    Detection,
    Options,
    labels_by_filter,
    labels_by_vectors,
    leading_of,
    propose,
)
from kgroups.search.climbing import Searching
from kgroups.search.objective import MOST_REPEATED, nats_saved, repeated_links
from kgroups.search.problem import Problem
from kgroups.search.scales import Scale, find_scales
from kgroups.search.settings import SIGNIFICANCE, Method, Search, Spectral, dense_solves
from kgroups.spectrum import BetheHessian, Moments, degrees_are_uneven, has_structure, moments

# Components with fewer nodes, too few for a filter, are always solved exactly.
_FILTERED_NODES = 6
# Digits to which eigenvalues are compared, so that equal components rank as equal.
_DIGITS = 9
# Eigenvalues that the moments do not show are put below 1 in steps of this.
_STEP_BELOW_ONE = 1e-9


def find_k_communities(
    problem: Problem, k: int, options: Options, rng: np.random.Generator
) -> Detection:
    """Find exactly ``k`` communities.

    If detection without a given number finds ``k``, these are returned; if communities are clear
    and a scale of the graph has ``k``, those of the scale. Otherwise candidates compete: the
    communities that each component gets as its share of ``k``, and communities merged from the next
    finer scale. If ``init`` or ``refine`` is not the default, only eigenvectors are used where they
    are available.
    """
    with dense_solves(problem.n, options.method):
        return _find(problem, k, options, rng)


def _find(problem: Problem, k: int, options: Options, rng: np.random.Generator) -> Detection:
    # Without a number given, no community reaches across components; isolated nodes come last.
    reachable = max(2, int(np.count_nonzero(problem.entries))) <= k < problem.n
    settings, progress = options.method.search_settings, options.progress
    if settings is None or options.chosen or not reachable:
        dispersion = 1.0 if settings is None or settings.dispersion is None else settings.dispersion
        return _by_shares(problem, k, options, rng, dispersion=float(dispersion))
    unasked = decide(propose(problem, options, rng), rng)
    if np.unique(unasked.z).size == k:
        unasked.components = [
            replace(report, why=f"{_given(k, report.k)}, and found without; {report.why}")
            for report in unasked.components
        ]
        return unasked
    found, described = None, problem.dispersed(unasked.dispersion)
    scales: list[Scale] = []
    if unasked.clear.any():
        scales = find_scales(described, unasked.z, settings, rng, progress)
        found = _at_scale(scales, described, k)
    if found is None:
        found = _by_shares(problem, k, options, rng, dispersion=unasked.dispersion)
        finer = [scale for scale in scales if int(scale.z.max()) + 1 > k]
        if finer:
            progress("merging groups step by step")
            found = _better(found, _merged(finer[-1], described, k, settings, rng), described)
    found.visits += unasked.visits
    return found


def _at_scale(scales: list[Scale], problem: Problem, k: int) -> Detection | None:
    """Return the scale of ``k`` communities, counted with the isolated nodes or without."""
    for scale in scales:
        y = _without_isolated(scale, problem)
        for z in (scale.z, y):
            if np.unique(z[z >= 0]).size == k:
                return _described(z, problem, "it is the number of a scale of the graph")
    return None


def _without_isolated(scale: Scale, problem: Problem) -> Ints:
    """Return labels without gaps, which are -1 at isolated nodes."""
    linked = problem.strength > 0.0
    z = np.full(problem.n, -1)
    z[linked] = np.unique(scale.z[linked], return_inverse=True)[1]
    return z


def _merged(
    scale: Scale, problem: Problem, k: int, settings: Search, rng: np.random.Generator
) -> Detection:
    """Return ``k`` communities merged from those of a finer scale; isolated nodes come last."""
    z = _without_isolated(scale, problem)
    linked, number = np.flatnonzero(z >= 0), int(z.max()) + 1
    visits = 0
    if number > k:
        one, only = problem.restricted(linked), np.zeros(1, dtype=np.int64)
        searching = Searching(one.level, settings, rng, one.dispersion)
        finer = z[linked].astype(np.int32), np.array([number])
        z[linked] = searching.given_number(np.array([k]), only, finer=finer)
        visits = searching.visits
    # Isolated nodes make up the rest of the number.
    alone = np.flatnonzero(z < 0)[: max(k - number, 0)]
    z[alone] = number + np.arange(alone.size)
    found = _described(z, problem, "merged from the next finer scale of the graph")
    found.visits = visits
    return found


def _better(found: Detection, rival: Detection, problem: Problem) -> Detection:
    """Return the detection that saves more of the description of the whole graph."""
    one, number = problem.as_one(), np.array([int(found.z.max()) + 1])
    nats, rivals = (
        float(nats_saved(one.level, each.z, number, one.objective)[0]) for each in (found, rival)
    )
    better = rival if rivals > nats else found
    better.visits = found.visits + rival.visits
    return better


def _described(z: Ints, problem: Problem, why: str) -> Detection:
    """Return labels as a detection with its reasons; nodes with label -1 are uninformed."""
    found = Detection(z.copy(), dispersion=problem.dispersion)
    found.assign_uninformed()
    k = np.unique(found.z).size
    for c in np.argsort(-problem.sizes, kind="stable")[:REPORTED].tolist():
        share = np.unique(found.z[problem.rows(c)]).size
        because = f"{_given(k, share)}; {why}"
        report = ComponentReport(int(problem.sizes[c]), share, "search", because, component=c)
        found.components.append(replace(report, nats=_nats_of(found, problem, c)))
    return found


def _by_shares(
    problem: Problem,
    k: int,
    options: Options,
    rng: np.random.Generator,
    *,
    dispersion: float,
) -> Detection:
    """Find ``k`` communities, of which each component gets a share.

    The k largest eigenvalues of the whole graph decide how many; those of large components are
    estimated from the moments. Components that get none join the largest community and are
    uninformed.
    """
    progress = options.progress
    found = Detection(np.full(problem.n, -1, dtype=np.int64), dispersion=dispersion)
    measured: dict[int, Moments] = {}
    large = _by_moments(problem, options.method.spectral_settings).tolist()
    if large:
        progress("moments of the spectrum")
    for component in large:
        measured[component] = moments(problem.part(component).with_own_operator().hessian)
        found.visits += measured[component].visits
    shares, vectors = _shares(problem, k, measured, options.init)
    entropy = int(rng.integers(2**63))
    k_total = 0
    for component in np.flatnonzero(shares).tolist():
        share = int(shares[component])
        part, rows = problem.part(component), problem.rows(component)
        V = vectors[component][:, :share] if component in vectors else None
        if component in measured:
            part = part.with_own_operator()
        quota = ComponentQuota(part, share, component, options, entropy, found)
        z, origin, why = quota.communities(measured.get(component), V)
        report = ComponentReport(
            part.n, share, origin, f"{_given(k, share)}{why}", component=component
        )
        found.components.append(report)
        found.z[rows] = k_total + z
        k_total += share
    found.assign_uninformed()
    found.components.sort(key=lambda report: -report.n)
    described = problem.dispersed(dispersion)
    found.components = [
        replace(report, nats=_nats_of(found, described, report.component))
        for report in found.components[:REPORTED]
    ]
    return found


def _given(k: int, share: int) -> str:
    """Return that k was given, and how many of the communities are in a component."""
    return f"k = {k} was given" + (f", {share} of them here" if share < k else "")


def _by_moments(problem: Problem, spectral: Spectral) -> Ints:
    """Return the components whose eigenvectors are not computed exactly."""
    large = (problem.sizes > spectral.largest_exact) & (problem.sizes >= _FILTERED_NODES)
    return np.flatnonzero(large)


def _nats_of(found: Detection, problem: Problem, component: int) -> float:
    labels = np.unique(found.z[problem.rows(component)], return_inverse=True)[1]
    return nats_in_component(problem, component, labels)


class ComponentQuota(NamedTuple):
    """A connected component, and how many communities it gets."""

    part: Problem
    k: int
    component: int
    options: Options
    entropy: int
    found: Detection

    def communities(self, measured: Moments | None, V: Floats | None) -> tuple[Ints, str, str]:
        """Return communities, their origin ("eigenvectors" or "search"), and a clause for the why.

        The planted likelihood decides between several candidates, and belief propagation where
        they are faint. ``measured`` are the moments of a large component, ``V`` the eigenvectors of
        a small one.
        """
        n, method = self.part.n, self.options.method
        if self.k in (1, n):
            return np.arange(n) % self.k, "eigenvectors", ""
        candidates = []
        spectrum = None if V is None else (self.part, V)
        at_radius = self._is_uneven(method)
        if at_radius and isinstance(self.options.refine, BeliefPropagation):
            return self._exact(*self._at_nonbacktracking_radius()), "eigenvectors", ""
        if spectrum is not None:
            candidates.append((self._exact(*spectrum), "eigenvectors"))
        elif measured is not None and method.resolves(self.k, n):
            self.options.progress("filtering a subspace")
            leading = leading_of(self.part, measured, self.k)
            z = labels_by_filter(self.part, leading, self.options, self.entropy, self.found)
            candidates.append((z, "eigenvectors"))
        if candidates and self.options.chosen:
            return *candidates[0], ""
        if at_radius:
            spectrum = self._at_nonbacktracking_radius()
            candidates.append((self._exact(*spectrum), "eigenvectors"))
        if method.search_settings is not None:
            candidates.append((self._searched(method.search_settings), "search"))
        A, d = self.part.A, self.part.strength
        gain = [planted_fit(A, d, z, k=self.k).gain for z, _ in candidates]
        # The first wins a near-tie: another must be ten times as likely.
        gain[0] += SIGNIFICANCE
        best, origin = candidates[int(np.argmax(gain))]
        if method.compares:
            return self._or_inferred(best, origin, spectrum)
        return best, origin, ""

    def _or_inferred(
        self, best: Ints, origin: str, spectrum: tuple[Problem, Floats] | None
    ) -> tuple[Ints, str, str]:
        """Return the best candidate, or what belief propagation finds where it is faint.

        As without a given number, a description that saves a nat per node decides, and below that
        the higher score. Moves of single nodes overfit faint communities, so that beliefs start
        from the eigenvectors themselves where these are known. Dense graphs are left to the
        candidates: a pair is linked at most once where the model expects several links. So are
        graphs where the first sweeps leave a community without nodes: there are too many to be told
        apart.
        """
        level = self.part.level
        nats = float(nats_saved(level, best, np.array([self.k]))[0])
        if nats >= best.size or level.indices.size * self.k > MAX_MESSAGES:
            return best, origin, ""
        if repeated_links(level) > MOST_REPEATED:
            return best, origin, ""
        self.options.progress("belief propagation")
        start = best
        if spectrum is not None:
            unrefined = self.options._replace(refine=None)
            start = self._exact(*spectrum, unrefined)
        method = BeliefPropagation()
        found = method.infer(level, start, self.k, need_all=True)
        self.found.visits += found.sweeps * level.indices.size
        m = 0.5 * float(level.strength.sum())
        score = found.evidence - parameter_cost(best.size, m, self.k)
        if not score > nats:
            return best, origin, ""
        z, corrected = np.argmax(found.marginals, axis=1), method.corrects(level)
        return (
            z if better_fit(level, z, start, self.k, degree_corrected=corrected) else start,
            origin if spectrum is None else "eigenvectors",
            "; they are faint, and belief propagation decides",
        )

    def _is_uneven(self, method: Method) -> bool:
        """Return whether r should be the root of the non-backtracking radius."""
        hessian = self.part.hessian
        chosen = method.solves_uneven(self.k, hessian.n) and hessian.r_choice == "mean-degree"
        return chosen and degrees_are_uneven(self.part.A)

    def _at_nonbacktracking_radius(self) -> tuple[Problem, Floats]:
        part = self.part.at(BetheHessian("nonbacktracking"))
        return part, informative_eigenpairs(part.hessian, self.k, self.options.init.rows)[1]

    def _exact(self, part: Problem, V: Floats, options: Options | None = None) -> Ints:
        options = self.options if options is None else options
        one = np.zeros(1, dtype=np.int64)
        return labels_by_vectors(part, [V], one, options, self.entropy, self.found)[0]

    def _searched(self, settings: Search) -> Ints:
        self.options.progress("merging groups step by step")
        rng = np.random.default_rng([self.entropy, self.component])
        part = self.part.dispersed(self.found.dispersion)
        searching = Searching(part.level, settings, rng, part.dispersion)
        z = searching.given_number(np.array([self.k]), np.zeros(1, dtype=np.int64))
        self.found.visits += searching.visits
        return z.astype(np.int64)


def _shares(
    problem: Problem, k: int, measured: dict[int, Moments], init: Init
) -> tuple[Ints, dict[int, Floats]]:
    """Return how many of ``k`` communities each component gets, and eigenvectors of small ones.

    The largest eigenvalues decide. Those of large components are estimated from the moments; any
    further ones are taken to lie just below 1. Isolated nodes come last: they become communities
    only when nothing else is left.
    """
    values: list[Floats] = []
    vectors: dict[int, Floats] = {}
    for component in range(problem.n_components):
        count = min(k, int(problem.sizes[component]))
        if component in measured:
            values.append(_eigenvalues_shown(measured[component], count))
        elif problem.entries[component]:
            hessian = problem.part(component).hessian
            lam, vectors[component] = informative_eigenpairs(hessian, count, init.rows)
            values.append(np.round(lam, _DIGITS))
        else:
            values.append(np.full(1, -np.inf))
    owner = np.repeat(np.arange(problem.n_components), [len(own) for own in values])
    top = np.argsort(-np.concatenate(values), kind="stable")[:k]
    return np.bincount(owner[top], minlength=problem.n_components), vectors


def _eigenvalues_shown(measured: Moments, count: int) -> Floats:
    """Return eigenvalues of a component as estimated from its moments, in decreasing order."""
    shown = max(1, round(measured.k)) if has_structure(measured) else 1
    values: Floats = 1.0 - _STEP_BELOW_ONE * np.arange(count, dtype=float)
    values[:shown] = 0.5 * (measured.s + 1.0 / measured.s)
    values[0] = max(values[0], measured.perron.value)
    return values
