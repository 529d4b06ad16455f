r"""Communities with densities of their own: what they save, moves, merges.

A partition saves, against the graph in one piece, in nats

.. math:: F = \sum_c \Bigl[E_c \ln\frac{4 m E_c}{K_c^2} + N_c \ln\frac{N_c}{n} - \ln n\Bigr]
    + E_{out} \ln\omega_{out} + \ln n

with :math:`E_c` edges inside, degrees :math:`K_c` and :math:`N_c` nodes of community c. It is the
likelihood ratio of the degree-corrected block model in which each community has a density of its
own and all pairs of communities share one, less what it costs to send the labels and densities.
"""

import numpy as np

from kgroups._types import Floats, Indices
from kgroups.seed.levels import Effort, Level, coarse_level, renumbered

__all__ = ["Warmth", "log_outside_rate", "merged", "nats_saved", "worths"]

# Edges between groups are never taken to be rarer than this, relative to degrees alone.
_LEAST_RATE = 1e-3
# A group is never taken to be sparser inside than this much above the rest.
_LEAST_CONTRAST = 1.01
# Entries read between two looks at the keyboard: about a tenth of a second.
_BUDGET = 1 << 23
_NOISE = 1 << 14
# Nats that the best group of a node must be ahead for a warm sweep to pass over the node: chance
# moves it once in 400 visits then.
_DOUBT = 6.0


def worths(groups: Level, edges: float, all_nodes: float) -> Floats:
    """Return what each group adds to the nats saved, what lies between groups apart."""
    from scipy.special import xlogy

    expected = np.square(groups.strength) / (4.0 * edges)
    ratio = np.divide(groups.inner, expected, out=np.ones(groups.n), where=expected > 0.0)
    labels = groups.nodes * np.log(groups.nodes / all_nodes) - np.log(all_nodes)
    return np.asarray(xlogy(groups.inner, ratio) + labels)


def log_outside_rate(groups: Level, edges: float) -> float:
    """Return the log of the rate of edges between groups, relative to degrees alone."""
    expected = edges - float(np.sum(np.square(groups.strength))) / (4.0 * edges)
    cut = max(0.0, edges - float(groups.inner.sum()))
    return float(np.log(max(cut / max(expected, _LEAST_RATE), _LEAST_RATE)))


def nats_saved(groups: Level) -> float:
    """Return the nats that a partition saves against the graph in one piece."""
    edges, all_nodes = groups.edges, groups.all_nodes
    cut = max(0.0, edges - float(groups.inner.sum()))
    inside = float(worths(groups, edges, all_nodes).sum())
    return inside + cut * log_outside_rate(groups, edges) + float(np.log(all_nodes))


def merged(
    groups: Level,
    effort: Effort,
    *,
    least: float = 0.0,
    target: int | None = None,
    share: float | None = None,
    whole: Level | None = None,
) -> tuple[Indices, Level]:
    """Merge groups with their best partners.

    Parameters
    ----------
    groups : Level
        The groups.
    effort : Effort
        Gains the entries read.
    least : float
        Nats that a merge must save.
    target : int, optional
        Merge down to this many groups, whatever is saved or lost.
    share : float, optional
        Merge once, and no more than this share of the groups.
    whole : Level, optional
        The graph to which the groups belong, where ``groups`` lacks some of its edges.

    Returns
    -------
    label : ndarray of shape (groups.n,)
        New group of each group.
    groups : Level
        The new groups.
    """
    from kgroups.refine._rates_nb import best_partners, matched

    label = np.arange(groups.n, dtype=np.int32)
    frame = groups if whole is None else whole
    edges, all_nodes = frame.edges, frame.all_nodes
    fewest = 1 if target is None else target
    while groups.n > fewest:
        gain, partner = np.zeros(groups.n), np.full(groups.n, -1, dtype=np.int32)
        best_partners(
            groups.A,
            groups.strength,
            groups.inner,
            groups.nodes,
            worths(groups, edges, all_nodes),
            edges,
            all_nodes,
            log_outside_rate(groups if whole is None else whole, edges),
            gain,
            partner,
        )
        effort.read(len(groups.A.indices))
        # Half of the way at a time, so that later merges choose among the new groups.
        most = groups.n if target is None else (groups.n - target + 1) // 2
        if share is not None:
            most = max(1, int(share * groups.n))
        into = np.full(groups.n, -1, dtype=np.int32)
        merges = matched(
            np.argsort(np.where(partner < 0, np.inf, -gain), kind="stable"),
            gain,
            partner,
            least if target is None else -np.inf,
            most,
            into,
        )
        if not merges:
            break
        into, k = renumbered(into)
        label = into[label]
        groups = coarse_level(groups, into, k, effort)
        if share is not None:
            break
    return label, groups


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
