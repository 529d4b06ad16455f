"""The number of communities: the nats of each possible number, compared as detection does.

Where the description decides, these are the nats saved by the best partition into that many
communities. In faint components they are the evidence by belief propagation, for the communities
of the search and for those of eigenvectors.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kgroups._types import Floats, Indices, Ints
from kgroups.search.arbiter import winners
from kgroups.search.candidates import ANY_SAVING_NODES, Candidate, Contest
from kgroups.search.climbing import Searching
from kgroups.search.objective import nats_saved
from kgroups.search.problem import labels_from_zero
from kgroups.search.settings import Search

__all__ = ["ComponentNumbers", "numbers_of_communities"]

# Numbers are tried until several in a row (first value) fall short of the best by some nats (second
# value): together they have less than 1e-4 of the probability.
_PATIENCE = 3
_NEGLIGIBLE = 10.0
# Evidence counts only where the mean change of a marginal in the last sweep is at most this. Around
# hubs, messages that do not converge may show evidence where there is none.
_MOST_RESIDUAL = 0.03
# Work that is always allowed: the matrix entries and messages read in about a quarter of a second.
_LEAST_WORK = 1e7


class ComponentNumbers:
    """The numbers of communities that a component may have, and the nats of each.

    Attributes
    ----------
    found : int
        The number of communities that detection has found.
    evidence : bool
        Whether belief propagation has compared the numbers, not the description alone.
    asked : bool
        Whether it has done so in detection, too.
    nats : dict of int to float
        Nats over one community of the numbers that were tried.
    rough : dict of int to float
        Evidence of belief propagation that did not converge, which may be far too large.
    """

    def __init__(self, found: int, *, evidence: bool, asked: bool = True) -> None:
        self.found, self.evidence, self.asked = found, evidence, asked
        self.nats: dict[int, float] = {found: 0.0}
        self.rough: dict[int, float] = {}

    @property
    def best(self) -> float:
        """Nats of the best number."""
        return max(self.nats.values())

    def add(self, k: int, nats: float, *, converged: bool = True) -> None:
        """Keep the largest nats of a number."""
        kept = self.nats if converged else self.rough
        if np.isfinite(nats):
            kept[k] = max(nats, kept.get(k, -np.inf))

    def is_negligible(self, k: int) -> bool:
        """Return whether a number is far from the best, as far as its nats are known."""
        return self.nats.get(k, -np.inf) < self.best - _NEGLIGIBLE

    def weights(self) -> tuple[int, Floats, Floats]:
        """Return the lowest number, the nats of all numbers from it on, and those that are known.

        Evidence that did not converge is capped at the nats of the best number. Numbers that were
        not tried have -inf.
        """
        numbers = self.nats.keys() | self.rough.keys()
        first = min(numbers)
        nats, known = np.full((2, max(numbers) - first + 1), -np.inf)
        for k, value in self.nats.items():
            known[k - first] = nats[k - first] = value
        for k, value in self.rough.items():
            nats[k - first] = max(nats[k - first], min(value, self.best))
        return first, nats, known


def numbers_of_communities(
    contest: Contest,
    settings: Search,
    rng: np.random.Generator,
    *,
    k_values: Sequence[int] | None = None,
    max_work: float = np.inf,
    progress: Callable[[str], None] = lambda stage: None,
) -> tuple[list[ComponentNumbers], bool]:
    """Return the possible numbers of communities of each component, with their nats.

    The numbers next to the one found are tried until the rest are negligible, or with ``k_values``,
    all numbers that could add up to one of them. Also returns whether this was cut short because
    ``max_work`` times the matrix entries and messages of detection had been read; a minimum is
    always allowed.
    """
    trial = _Trial(contest, settings, rng, max_work, progress)
    walks = [
        trial.walk(direction, None if k_values is None else trial.ends(k_values, direction))
        for direction in (-1, 1)
    ]
    # Alternate between the two directions, so that a limit on the work does not leave one out.
    while walks:
        walks = [walk for walk in walks if next(walk, False)]
    return trial.numbers, trial.limited


class _Trial:
    """Tries numbers of communities, in all components at once."""

    def __init__(
        self,
        contest: Contest,
        settings: Search,
        rng: np.random.Generator,
        max_work: float,
        progress: Callable[[str], None],
    ) -> None:
        self._contest, self._progress = contest, progress
        problem = self._problem = contest.described
        self._searching = Searching(problem.level, settings, rng, problem.dispersion)
        self._work_before, self.limited = contest.judge.visits, False
        detection = contest.found.visits + contest.judge.visits
        self._most_work = max(max_work * detection, _LEAST_WORK)
        self._labels, self._found = labels_from_zero(contest.found.z, problem)
        self.numbers = [
            ComponentNumbers(found, evidence=evidence, asked=asked)
            for found, evidence, asked in zip(
                self._found.tolist(), contest.faint.tolist(), contest.asked.tolist(), strict=True
            )
        ]
        # Trees have one community. Where all pairs were counted, the number is final.
        candidates = contest.candidates
        won = np.choose(winners(candidates, contest.decided), [each.k for each in candidates])
        large = problem.sizes > ANY_SAVING_NODES
        self._open = np.flatnonzero(contest.cyclic & large & (won == self._found))
        for c in self._open.tolist():
            self.numbers[c].nats.clear()
        for candidate in candidates:
            for c in self._open.tolist():
                self.numbers[c].add(int(candidate.k[c]), float(candidate.score[c]))

    def ends(self, k_values: Sequence[int], direction: int) -> Ints:
        """Return the last number to try in each component for numbers of the whole graph."""
        parts, sizes = self._found.size, self._problem.sizes
        if self._open.size > 1:
            low, high = np.full(parts, 2), np.full(parts, max(k_values) - parts + 1)
        else:
            others = self._found.sum() - self._found
            low, high = np.maximum(2, min(k_values) - others), max(k_values) - others
        return low if direction < 0 else np.minimum(high, sizes)

    def walk(self, direction: int, ends: Ints | None) -> Iterator[bool]:
        """Try numbers beyond those found: up to the ends, or until several are negligible.

        Yields after every few numbers. The numbers next to those found are always tried.
        """
        last = ends
        if last is None:
            last = np.full_like(self._found, 2) if direction < 0 else self._problem.sizes
        near, edge = (self._labels, self._found), self._found.copy()
        active = self._open[direction * (last - edge)[self._open] > 0]
        while active.size:
            before = edge.copy()
            if direction < 0:
                edge[active] = np.maximum(edge - _PATIENCE, last)[active]
                near = self._fall(active, before - 1, edge, near)
            else:
                edge[active] = np.minimum(edge + _PATIENCE, last)[active]
                near = self._rise(active, edge, near)
            going = self._going(active, before, edge, last, ends)
            ended = np.setdiff1d(active, going)
            if direction > 0 and ended.size and not self._is_spent():
                # Communities merged from small groups, as with k given, compete.
                self._fall(ended, edge, self._found, self._searching.cells(ended))
                going = self._going(active, before, edge, last, ends)
            active = going
            yield True
            if self._is_spent():
                return

    def _going(self, active: Ints, before: Ints, edge: Ints, last: Ints, ends: Ints | None) -> Ints:
        """Return the components in which numbers beyond the edge are to be tried."""
        active = active[edge[active] != last[active]]
        if ends is not None:
            return active
        going = []
        for c in active.tolist():
            low, high = sorted((int(before[c]), int(edge[c])))
            tried = set(range(low, high + 1)) - {int(before[c])}
            if not all(self.numbers[c].is_negligible(k) for k in tried):
                going.append(c)
        return np.array(going, dtype=np.int64)

    def _is_spent(self) -> bool:
        work = self._searching.visits + self._contest.judge.visits - self._work_before
        self.limited |= work > self._most_work
        return self.limited

    def _fall(
        self, which: Ints, high: Ints, low: Ints, finer: tuple[Indices, Ints]
    ) -> tuple[Indices, Ints]:
        """Try numbers in decreasing order, each merged from the labels of the one before."""
        k = high.copy()
        while which.size:
            self._progress(f"trying {k[which[np.argmax(self._problem.sizes[which])]]} communities")
            z = self._searching.given_number(k, which, finer=finer)
            z, count = np.where(self._problem.level.mask(which), z, finer[0]), finer[1].copy()
            count[which] = k[which]
            finer = z, count
            self._describe(z, count, which)
            if self._is_spent():
                break
            k = k - 1
            which = which[k[which] >= low[which]]
        return finer

    def _rise(self, which: Ints, high: Ints, near: tuple[Indices, Ints]) -> tuple[Indices, Ints]:
        """Try larger numbers, by splitting in two the communities that lose least."""
        z, k = near
        place, divided = self._searching.halved(z, k, which)
        component = self._problem.component
        most = np.minimum(high - k, divided)
        number = k.copy()
        for extra in range(1, _PATIENCE + 1):
            which = which[most[which] >= extra]
            if not which.size or (extra > 1 and self._is_spent()):
                break
            number[which] += 1
            y = np.where(place < extra, k[component] + place, z).astype(np.int32)
            y = self._searching.moved(y, which).z
            self._describe(y, number, which)
            near = np.where(self._problem.level.mask(which), y, near[0]), number.copy()
        return near

    def _describe(self, z: Indices, k: Ints, which: Ints) -> None:
        """Add the nats that communities of a number save, and the evidence where that counts."""
        problem, contest = self._problem, self._contest
        nats = nats_saved(problem.level, z, k, problem.objective, which)
        for c in which.tolist():
            self.numbers[c].add(int(k[c]), float(nats[c]))
        which = which[contest.faint[which] & (k < problem.sizes)[which]]
        if which.size and contest.spectra is not None:
            self._add(contest.judge.scored(z.astype(np.int64), k, which, own_rates=True), which)
            labels, left = contest.spectra.communities(which, k)
            # Evidence no larger than by chance makes a number less probable, but not impossible.
            scored = contest.judge.scored(
                labels,
                left,
                which,
                own_rates=False,
                by_pairs=contest.candidates[1].k == 1,
                least_evidence=-np.inf,
            )
            self._add(scored, which)

    def _add(self, candidate: Candidate, which: Ints) -> None:
        """Add the scores of a candidate."""
        converged = ~(candidate.residual > _MOST_RESIDUAL)
        for c in which.tolist():
            score = float(candidate.score[c])
            self.numbers[c].add(int(candidate.k[c]), score, converged=bool(converged[c]))
