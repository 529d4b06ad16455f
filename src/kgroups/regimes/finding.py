"""From a problem to communities: each component by the regime that fits it."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._csr import restricted, without_diagonal
from kgroups._types import Ints
from kgroups.refine import DescriptionLength, Hartigan, absorb_fragments
from kgroups.regimes.choice import (
    EXACT_NODES,
    Auto,
    Exact,
    FewGroups,
    Regime,
    affordable,
    choice_by_moments,
    disappointing,
)
from kgroups.regimes.exact import exact_communities
from kgroups.regimes.few import few_communities
from kgroups.regimes.many import (
    ManyFound,
    many_communities,
    many_further,
    nats_of,
)
from kgroups.regimes.problem import Found, Part, Problem
from kgroups.report import SearchReport
from kgroups.seed import Seed
from kgroups.spectrum import Moments, has_structure, leading_pairs, moments

__all__ = ["by_moments", "communities_found", "signal_of"]

# From this size on the moments tell a random graph from communities.
_JUDGED_NODES = 500
# A community with this share of its component may hide fainter ones.
_GIANT = 0.25
# A partition that saves less than this part of the edges, in nats, is below what a description
# can tell: there the eigenvectors decide.
_FAINT_NATS = 0.004
# Columns that a filtered subspace may grow to, for each community that the moments show.
_COLUMNS = 2.0
_FEWEST_COLUMNS = 24
# Up to this size the many regime is tried first, and communities of eigenvectors are tried for
# splits; beyond, what the moments do not show is too small a part of the graph for the time.
_SPLIT_NODES = 20_000


def by_moments(problem: Problem, regime: Regime, *, trees: bool = False) -> Ints:
    """Return the components that are not solved exactly.

    A component with one cycle at most is one community, however large: it counts as small unless
    ``trees`` are wanted too.
    """
    if isinstance(regime, Exact):
        return np.zeros(0, dtype=np.int64)
    least = EXACT_NODES + 1 if isinstance(regime, Auto) else 6
    rich = (problem.entries >= 2 * (problem.sizes + 1)) | trees
    return np.flatnonzero((problem.sizes >= least) & rich)


def communities_found(
    problem: Problem,
    counts: Ints,
    regime: Regime,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    start: Ints | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> Found:
    """Find communities when k is not given: connected, and never across components.

    Parameters
    ----------
    problem : Problem
        The graph.
    counts : ndarray of shape (n_components,)
        Eigenvalues above the threshold in each component that is solved exactly.
    regime : Regime
        How the regime of each component is chosen.
    init, refine
        First labels from eigenvectors, and their refinement.
    rng : Generator
        Each component has a stream of its own.
    start : ndarray of shape (n,), optional
        Labels to start from.
    tell : callable
        Called with the name of each stage.
    """
    found = Found(problem.component.copy())
    finder = _Finder(regime, init, refine, problem.uneven, found, tell)
    entropy = int(rng.integers(2**63))
    k_total = problem.n_components
    large = set(by_moments(problem, regime).tolist())
    for component in problem.worth_a_look(counts):
        rows, part = problem.part(component)
        stream = np.random.default_rng([entropy, component])
        first = None if start is None else np.unique(start[rows], return_inverse=True)[1]
        if component in large:
            z, k = finder.by_moments(part, stream, first)
        else:
            z, k = finder.exactly(part, int(counts[component]), stream, first)
        found.z[rows] = np.where(z == 0, component, k_total + z - 1)
        k_total += k - 1
    return found


@dataclass(frozen=True, eq=False)
class _Finder:
    """The options of a search, and where it notes what happened."""

    regime: Regime
    init: Seed
    refine: Hartigan | None
    weighted: bool
    found: Found
    tell: Callable[[str], None]

    def exactly(
        self, part: Part, k: int, rng: np.random.Generator, start: Ints | None
    ) -> tuple[Ints, int]:
        """Find the communities of a small component, of which the spectrum shows k.

        The larger ones are told from random graphs by their moments, and searched in the way of
        the many regime too, which may find more communities with a better description.
        """
        n = part.bound.n
        judged = None
        if k > 1 and n >= _JUDGED_NODES and isinstance(self.regime, Auto):
            judged = self._moments(part.with_own_r(weighted=self.weighted))
            verdict = has_structure(judged)
            if start is None and not verdict:
                k = 1
                self.found.searches.append(
                    SearchReport("One", verdict.why, n, 1, **signal_of(judged))
                )
        # Each attempt draws what it would draw if its regime were asked for.
        unused = deepcopy(rng)
        z, count, notes = self._exact(part, k, rng, start)
        if start is not None:
            return self._warm_or_cold(part, (z, count, notes), self._exact(part, k, unused, None))
        if judged is not None and k > 1 and self.refine is not None and not self.weighted:
            many = self._many(part, judged, unused, None)
            A = without_diagonal(part.A)
            length = DescriptionLength(A)
            better = length.of(A, many.z, many.k) < length.of(A, z, count)
            # Communities that a description cannot see must not be lost for a better one.
            if better and (many.k >= k or _all_owned(many.z, many.k, z, count)):
                self.found.drop(notes)
                self._note("ManyGroups", "its description is better", judged, many.k, n, many)
                return many.z, many.k
        self.found.take(notes)
        return z, count

    def _exact(
        self, part: Part, k: int, rng: np.random.Generator, start: Ints | None
    ) -> tuple[Ints, int, Found]:
        notes = Found(np.zeros(0, dtype=np.int64))
        z, count = exact_communities(
            part,
            max(1, k),
            self.init,
            self.refine,
            rng,
            notes,
            weighted=self.weighted,
            start=start,
        )
        return z, count, notes

    def _warm_or_cold(
        self, part: Part, warm: tuple[Ints, int, Found], cold: tuple[Ints, int, Found]
    ) -> tuple[Ints, int]:
        """Return what labels have led to, unless eigenvectors show more or describe better.

        Hartigan moves and splits never lower the number of communities, so labels of too many
        would stay; and labels of one community would hide what is too faint for a description.
        """
        saved = [nats_of(part, z, weighted=self.weighted) for z, _, _ in (warm, cold)]
        kept = self.refine is None or (
            saved[0] >= saved[1] and _all_owned(warm[0], warm[1], cold[0], cold[1])
        )
        chosen, other = (warm, cold) if kept else (cold, warm)
        self.found.take(chosen[2])
        self.found.drop(other[2])
        return chosen[0], chosen[1]

    def _moments(self, part: Part) -> Moments:
        judged = moments(part.bound)
        self.found.visits += judged.visits
        return judged

    def by_moments(
        self, part: Part, rng: np.random.Generator, start: Ints | None
    ) -> tuple[Ints, int]:
        """Find the communities of a large component."""
        n = part.bound.n
        self.tell("moments of the spectrum")
        part = part.with_own_r(weighted=self.weighted)
        judged = self._moments(part)
        auto = isinstance(self.regime, Auto)
        chosen, why = self.regime, "asked for"
        if auto:
            verdict = has_structure(judged)
            if start is None and not verdict:
                self.found.searches.append(
                    SearchReport("One", verdict.why, n, 1, **signal_of(judged))
                )
                return np.zeros(n, dtype=np.int64), 1
            chosen, why = choice_by_moments(judged, n)
        few_first = isinstance(chosen, FewGroups) and not (auto and n <= _SPLIT_NODES)
        if start is None and few_first:
            return self._few(part, judged, rng, why)
        many = self._many(part, judged, rng, start)
        if auto and start is None:
            edges = part.edge_count(weighted=self.weighted)
            unseen = many.nats <= _FAINT_NATS * edges or many.k < round(judged.k)
            if disappointing(many.nats, judged, n, edges) or (
                unseen and isinstance(chosen, FewGroups)
            ):
                return self._few(part, judged, rng, why, rival=many)
        z, k = many.z, many.k
        if auto and self.refine is not None:
            z, k = self._giants_opened(part, many, rng)
        self._note("ManyGroups", why, judged, k, n, many)
        return z, k

    def _giants_opened(
        self, part: Part, many: ManyFound, rng: np.random.Generator
    ) -> tuple[Ints, int]:
        """Look for faint communities inside a community that holds much of the component.

        Beside clear communities, faint ones save too little to be kept apart. Taken alone their
        moments show them.
        """
        z, k = many.z.copy(), many.k
        size = np.bincount(many.z, minlength=k)
        for giant in np.flatnonzero(size >= max(_JUDGED_NODES, _GIANT * z.size)).tolist():
            rows = np.flatnonzero(many.z == giant)
            if k == 1 or rows.size == z.size:
                break
            inside = Part(restricted(part.A, rows), part.d[rows], part.bound.restrict(rows))
            inside = inside.with_own_r(weighted=self.weighted)
            judged = self._moments(inside)
            if not has_structure(judged) or not affordable(judged.k, rows.size):
                continue
            few = few_communities(inside, judged, self.init, self.refine, rng)
            self.found.visits += few.visits
            labels, count = absorb_fragments(inside.A, few.z)
            z[rows] = np.where(labels == 0, giant, k + labels - 1)
            k += count - 1
        return z, k

    def _many(
        self, part: Part, judged: Moments, rng: np.random.Generator, start: Ints | None
    ) -> ManyFound:
        many = many_communities(
            part, judged, self.refine, rng, weighted=self.weighted, start=start, tell=self.tell
        )
        self.found.visits += many.visits
        return many

    def _few(
        self,
        part: Part,
        judged: Moments,
        rng: np.random.Generator,
        why: str,
        rival: ManyFound | None = None,
    ) -> tuple[Ints, int]:
        """Find communities by eigenvectors, then let the description length have its say.

        Where the labels save enough for a description to see them, merges and moves that save
        more go on from there; splits of communities follow. A rival from elsewhere is taken if it
        saves more.
        """
        self.tell("filtering a subspace")
        visited = judged.operator.visits
        leading = leading_pairs(judged, most=max(_FEWEST_COLUMNS, int(_COLUMNS * judged.k)))
        self.found.visits += judged.operator.visits - visited
        if isinstance(self.regime, Auto) and not leading.complete:
            # More communities than the moments show: too many for their eigenvectors.
            rival = self._many(part, judged, rng, None) if rival is None else rival
            self._note("ManyGroups", why, judged, rival.k, part.bound.n, rival)
            return rival.z, rival.k
        few = few_communities(part, judged, self.init, self.refine, rng, leading=leading)
        if few.refinement is not None:
            self.found.refinements.append(few.refinement)
        z, k = absorb_fragments(part.A, few.z)
        n, edges = part.bound.n, part.edge_count(weighted=self.weighted)
        nats, seen = nats_of(part, z, weighted=self.weighted), _FAINT_NATS * edges
        best = None
        if self.refine is not None and (nats > seen or n <= _SPLIT_NODES):
            best = many_further(
                part,
                z,
                rng,
                weighted=self.weighted,
                moves=nats > seen,
                splits=n <= _SPLIT_NODES,
            )
            self.found.visits += best.visits
            z, k, nats = best.z, best.k, best.nats
        if (
            rival is None
            and isinstance(self.regime, Auto)
            and disappointing(nats, judged, n, edges)
        ):
            rival = self._many(part, judged, rng, None)
        name = "FewGroups"
        if rival is not None and rival.nats > max(nats, seen):
            name, best, z, k = "ManyGroups", rival, rival.z, rival.k
        self._note(name, why, judged, k, n, best, nats)
        return z, k

    def _note(
        self,
        name: str,
        why: str,
        judged: Moments,
        k: int,
        n: int,
        many: ManyFound | None,
        nats: float = 0.0,
    ) -> None:
        course: dict[str, Any] = {"nats": nats}
        if many is not None:
            self.found.splits += many.splits
            course = {
                "nats": many.nats,
                "resolution": many.resolution,
                "undecided": many.undecided,
                "steps": many.stairs,
                "hartigan": many.hartigan,
            }
        self.found.searches.append(SearchReport(name, why, n, k, **signal_of(judged), **course))


def _all_owned(z: Ints, k: int, owner: Ints, owners: int) -> bool:
    """Tell if each of some owners has the majority in one of k communities or more."""
    shared = np.bincount(z * owners + owner, minlength=k * owners).reshape(k, owners)
    return np.unique(np.argmax(shared, axis=1)).size == owners


def signal_of(judged: Moments) -> dict[str, Any]:
    """Return what the report says of the moments."""
    return {"k_low": judged.k_low, "k_high": judged.k_high, "snr": judged.s}
