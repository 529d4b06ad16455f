r"""Communities with densities of their own: what they save, moves, merges.

A partition saves, against the graph in one piece, in nats

.. math:: F = \sum_c \Bigl[E_c \ln\frac{4 m E_c}{K_c^2} - \ln(P_c + 1)\Bigr]
    + E_{out} \ln\omega_{out} - \ln\frac{n!}{\prod_c N_c!} - \ln\binom{n-1}{k-1} + \ln k!

with :math:`E_c` edges inside, degrees :math:`K_c`, :math:`N_c` nodes and
:math:`P_c = \min(N_c (N_c - 1) / 2, m)` of community c. It is the likelihood ratio of the
degree-corrected block model in which each community has a density of its own and all pairs of
communities share one, less what it costs to send the labels and the densities.
"""

import math
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Indices
from kgroups.seed.levels import Effort, Level, coarse_level, renumbered

__all__ = [
    "Frame",
    "Warmth",
    "log_outside_rate",
    "merged",
    "nats_saved",
    "outside_rates",
    "worths",
]

# Edges between groups are never taken to be rarer than this, relative to degrees alone.
_LEAST_RATE = 1e-3
# A group is never taken to be sparser inside than this much above the rest.
_LEAST_CONTRAST = 1.01
# Entries read between two looks at the keyboard: a few hundredths of a second.
_BUDGET = 1 << 21
_NOISE = 1 << 14
# Nats that the best group of a node must be ahead for a warm sweep to pass over the node: chance
# moves it once in 400 visits then.
_DOUBT = 6.0


def worths(groups: Level, edges: Floats) -> Floats:
    """Return what each group adds in likelihood and in cheaper labels.

    ``edges`` holds the edges of the graph that each group belongs to. Inner weights below 0 are
    the rounding of sums that were kept while nodes moved, and count as 0.
    """
    from scipy.special import gammaln, xlogy

    inner = np.maximum(groups.inner, 0.0)
    expected = np.square(groups.strength) / (4.0 * edges)
    ratio = np.divide(inner, expected, out=np.ones(groups.n), where=expected > 0.0)
    return np.asarray(xlogy(inner, ratio) + gammaln(groups.nodes + 1.0))


def log_outside_rate(groups: Level, edges: float) -> float:
    """Return the log of the rate of edges between groups, relative to degrees alone."""
    expected = edges - float(np.sum(np.square(groups.strength))) / (4.0 * edges)
    cut = edges - float(groups.inner.sum())
    return float(outside_rates(np.array([cut]), np.array([expected]))[0])


def outside_rates(cut: Floats, expected: Floats) -> Floats:
    """Return the log of edges found over edges expected, neither taken to be next to none."""
    rate = np.maximum(cut, 0.0) / np.maximum(expected, _LEAST_RATE)
    return np.asarray(np.log(np.maximum(rate, _LEAST_RATE)))


def nats_saved(groups: Level) -> float:
    """Return the nats that a partition saves against the graph in one piece.

    Never NaN, which would win or lose by the order of a comparison: minus infinity instead.
    """
    from scipy.special import gammaln

    if groups.n < 2:
        return 0.0
    edges, n, k = groups.edges, groups.all_nodes, groups.n
    cut = max(0.0, edges - float(groups.inner.sum()))
    gained = float(worths(groups, np.full(k, edges)).sum())
    pairs = np.minimum(0.5 * groups.nodes * (groups.nodes - 1.0), edges)
    sizes = gammaln(n) - gammaln(k) - gammaln(n - k + 1.0) - gammaln(k + 1.0)
    cost = float(gammaln(n + 1.0) + sizes + np.log(pairs + 1.0).sum())
    saved = gained + cut * log_outside_rate(groups, edges) - cost
    return -math.inf if math.isnan(saved) else saved


class Frame(NamedTuple):
    """The graph that each group belongs to: its edges, and the log rate of those between groups."""

    edges: Floats
    log_outside: Floats


def merged(
    groups: Level,
    effort: Effort,
    *,
    target: int | None = None,
    share: float | None = None,
    frame: Frame | None = None,
) -> tuple[Indices, Level]:
    """Merge groups with their best partners.

    A merge must raise the likelihood, less the cost of labels. That it saves a density is not
    counted: groups that are half right would be merged for it before moves have put them right.

    Parameters
    ----------
    groups : Level
        The groups.
    effort : Effort
        Gains the entries read.
    target : int, optional
        Merge down to this many groups, whatever is saved or lost.
    share : float, optional
        Merge once, and no more than this share of the groups.
    frame : Frame, optional
        Graphs of their own to which the groups belong; by default all belong to one.

    Returns
    -------
    label : ndarray of shape (groups.n,)
        New group of each group.
    groups : Level
        The new groups.
    """
    from kgroups.refine._rates_nb import best_partners, matched

    label = np.arange(groups.n, dtype=np.int32)
    fewest = 1 if target is None else target
    own = _one_frame(groups) if frame is None else frame
    while groups.n > fewest:
        k = groups.n
        gain, partner = np.zeros(k), np.full(k, -1, dtype=np.int32)
        best_partners(
            groups.A,
            groups.strength,
            groups.inner,
            groups.nodes,
            worths(groups, own.edges),
            own.edges,
            own.log_outside,
            gain,
            partner,
        )
        effort.read(len(groups.A.indices))
        np.nan_to_num(gain, copy=False, nan=-np.finfo(float).max)
        # Half of the way at a time, so that later merges choose among the new groups.
        most = k if target is None else min(k - target, max((k - target + 1) // 2, k // 50))
        if share is not None:
            most = max(1, int(share * k))
        into = np.full(k, -1, dtype=np.int32)
        merges = matched(
            np.argsort(np.where(partner < 0, np.inf, -gain), kind="stable"),
            gain,
            partner,
            0.0 if target is None else -np.inf,
            most,
            into,
        )
        if not merges:
            break
        into, k = renumbered(into)
        label = into[label]
        groups = coarse_level(groups, into, k, effort)
        if frame is None:
            own = _one_frame(groups)
        else:
            own = Frame(_of_merged(own.edges, into, k), _of_merged(own.log_outside, into, k))
        if share is not None:
            break
    return label, groups


def _one_frame(groups: Level) -> Frame:
    edges = groups.edges
    return Frame(np.full(groups.n, edges), np.full(groups.n, log_outside_rate(groups, edges)))


def _of_merged(values: Floats, into: Indices, k: int) -> Floats:
    result = np.empty(k)
    result[into] = values
    return result


class Warmth:
    """Moves of nodes between groups with densities of their own, at falling temperatures.

    At temperature T a node goes to a group with probability proportional to the likelihood to the
    power 1/T, as in Gibbs sampling; at 0 to the best one. It remembers which nodes were undecided,
    and passes over the others.

    Parameters
    ----------
    level : Level
        The graph.
    effort : Effort
        Gains the entries read.
    rng : Generator
        Source of the noise.
    """

    def __init__(self, level: Level, effort: Effort, rng: np.random.Generator) -> None:
        self._level, self._effort, self._rng = level, effort, rng
        self._noise = rng.gumbel(size=_NOISE)
        self._waiting = np.ones(level.n, dtype=np.bool_)
        self._unsure = np.ones(level.n, dtype=np.bool_)

    @property
    def unsure(self) -> float:
        """Share of the nodes that were undecided when last visited."""
        return float(self._unsure.mean())

    def moved(
        self, z: Indices, groups: Level, temperatures: tuple[float, ...]
    ) -> tuple[Indices, Level]:
        """Return labels after a sweep at each temperature, and the groups without their links.

        A sweep at temperature 0 that moves next to nothing is the last.
        """
        from kgroups.refine._rates_nb import sweep_rates

        level, n, k = self._level, self._level.n, groups.n
        z = z.astype(np.int32, copy=True)
        total, inner = groups.strength.copy(), groups.inner.copy()
        size = groups.nodes.astype(np.int64)
        link, touched = np.zeros(k), np.empty(k, dtype=np.int32)
        for temperature in temperatures:
            now = Level(groups.A, total, inner, size.astype(float))
            rates = _rates(now)
            shift = int(self._rng.integers(_NOISE))
            tally = np.zeros(2, dtype=np.int64)
            node = 0
            while node < n:
                node = sweep_rates(
                    level.A,
                    level.strength,
                    rates,
                    temperature,
                    _DOUBT,
                    self._noise,
                    shift,
                    node,
                    _BUDGET,
                    z,
                    total,
                    inner,
                    size,
                    self._waiting,
                    self._unsure,
                    link,
                    touched,
                    tally,
                )
            self._effort.read(int(tally[0]), moves=int(tally[1]))
            if temperature == 0.0 and tally[1] <= n // 10_000:
                break
        return z, Level(groups.A, total, inner, size.astype(float))


def _rates(groups: Level) -> Floats:
    """Return the worth of a link, the charge for an expected one, and the worth of a node."""
    edges = groups.edges
    outside = float(np.exp(log_outside_rate(groups, edges)))
    expected = np.square(groups.strength) / (4.0 * edges)
    inside = np.divide(groups.inner, expected, out=np.ones(groups.n), where=expected > 0.0)
    inside = np.maximum(inside, _LEAST_CONTRAST * outside)
    return np.column_stack(
        [
            np.log(inside / outside),
            (inside - outside) / (2.0 * edges),
            np.log(groups.nodes / groups.all_nodes),
        ]
    )
