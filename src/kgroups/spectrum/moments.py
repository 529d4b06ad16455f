r"""How many communities there are and how clear they are, from traces of Chebyshev polynomials.

With random vectors g without their Perron part, the mean of
:math:`g^T T_{2q}(N) \frac{1 + N}{2} g` is :math:`\sum_i T_{2q}(\nu_i) \frac{1 + \nu_i}{2}`.
The bulk of the spectrum adds next to nothing to it, and k - 1 eigenvalues
:math:`\nu = (s + 1/s)/2` beyond 1 add :math:`s^{2q} / 2` each, up to the last factor. That factor
all but takes out the eigenvalues below -1, of groups whose nodes avoid one another.

Without communities the moments are noise. Before they are judged, neighbouring orders are averaged
with binomial weights, which multiplies the polynomial by :math:`N^6`: the oscillation that comes
from eigenvalues near 0, of which graphs with many nodes of degree 1 have plenty, goes.
"""

import math
from dataclasses import dataclass

import numpy as np

from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.chebyshev import Perron, Recursion, growth_of, perron_of, value_of
from kgroups.spectrum.chebyshev_operator import ThinBlock, ThinBlocks

__all__ = ["NULL_SIGNAL", "Moments", "moments"]

NULL_SIGNAL = 5.0
"""Signals up to this are noise; ``benchmarks/nulls.py`` shows both sides of it."""

_VECTORS = 8
_FEWEST_STEPS = 5
# Communities this clear, if only two, outgrow the bulk in the steps that are allowed.
_FAINTEST_GROWTH = 1.25
# Beyond this many times n the bulk and the noise of the vectors are a few percent.
_ENOUGH = 3.0
# When an eigenvalue of the faintest growth would be this many times the noise, a smaller signal
# than that of the futile says that there is none.
_JUDGED_AT = 20.0
_FUTILE_SIGNAL = 0.5
_SMOOTHING = 6
_ROOM_BELOW = 1.05
_MAPPINGS = 4


@dataclass(frozen=True, eq=False)
class Moments:
    """What the Chebyshev moments of N_r say of one connected graph.

    Attributes
    ----------
    k : float
        Estimated number of communities, 1 where nothing grows. Between ``k_low`` and ``k_high``.
    k_low : float
        The estimate if all communities were equally clear: an underestimate where they are not.
    k_high : float
        The estimate if the logarithms of their s were spread normally.
    s : float
        Estimated signal-to-noise ratio, that of the clearer ones if they differ; 1 where nothing
        grows.
    q : int
        Degree of the polynomial at which the work ended.
    signal : float
        The last moment, in units of the noise that random vectors leave in it; smoothed where it
        has not outgrown the bulk.
    threshold : float
        What the signal must exceed to be no accident.
    lowest : float
        The eigenvalue that was mapped to -1; below -1 on graphs with nodes that avoid one another.
    operator : ThinBlocks
        The operator, mapped.
    perron : Perron
        Largest eigenvalue of N_r, not mapped, and its vector.
    block : ndarray of float32, shape (n, 8)
        The random vectors filtered by T_q.
    products : int
        How many times the graph was multiplied by a vector or a block.
    visits : int
        Matrix entries read.
    """

    k: float
    k_low: float
    k_high: float
    s: float
    q: int
    signal: float
    threshold: float
    lowest: float
    operator: ThinBlocks
    perron: Perron
    block: ThinBlock
    products: int
    visits: int


def moments(bound: BoundBetheHessian, *, seed: int = 0) -> Moments:
    """Estimate the number of communities of a connected graph, and how clear they are.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator, of one component with at least one edge.
    seed : int
        Of the random vectors.

    Returns
    -------
    Moments

    Examples
    --------
    >>> from kgroups.generators import planted_partition
    >>> from kgroups.operators import BetheHessian
    >>> graph, _ = planted_partition(10_000, k=20, degree=15.0, snr=2.0, rng=0)
    >>> found = moments(BetheHessian().bind(graph.simple_adjacency(), weighted=False))
    >>> 15 < found.k < 25, 1.9 < found.s < 2.1
    (True, True)
    """
    operator = ThinBlocks(bound)
    perron = perron_of(operator)
    visits = 0
    for _ in range(_MAPPINGS):
        series = _Series(operator, perron, seed)
        visits += operator.visits
        if not series.outgrown_from_below:
            break
        reached = operator.unmapped(-value_of(series.growth_below()))
        below = min(operator.lowest, reached)
        operator = ThinBlocks(bound, lowest=_ROOM_BELOW * below)
    s, k_low, k_high = series.fitted()
    return Moments(
        k=1.0 + math.sqrt(k_low * k_high),
        k_low=1.0 + k_low,
        k_high=1.0 + k_high,
        s=s,
        q=series.q,
        signal=series.signal,
        threshold=series.threshold,
        lowest=operator.lowest,
        operator=operator,
        perron=perron,
        block=series.block,
        products=visits // max(1, bound.nnz),
        visits=visits,
    )


def _steps_to(size: float, operator: ThinBlocks) -> int:
    """Return the q at which the faintest eigenvalue worth finding has a moment of this size."""
    growth = growth_of(operator.mapped(value_of(_FAINTEST_GROWTH)))
    return max(_FEWEST_STEPS, math.ceil(math.log(2.0 * max(1.0, size)) / (2.0 * math.log(growth))))


class _Series:
    """Moments of rising order of one operator, until what is beyond the bulk has outgrown it.

    ``above[q]`` holds the moment of order 2q for eigenvalues above 1, ``below[q]`` for those below
    -1. Both start with the traces of the identity.
    """

    def __init__(self, operator: ThinBlocks, perron: Perron, seed: int) -> None:
        self._operator = operator
        self._noise = math.sqrt(operator.n / _VECTORS)
        self._enough = _ENOUGH * operator.n
        self._last = _steps_to(self._enough, operator)
        self._judged = _steps_to(_JUDGED_AT * self._noise, operator)
        start = operator.random_block(_VECTORS, np.random.default_rng(seed))
        recursion = Recursion(operator, [perron.deflated], start)
        self.above: list[float] = []
        self.below: list[float] = []
        neighbouring, base = 0.0, (0.0, 0.0)
        while True:
            own, following = _means(operator, recursion)
            if not self.above:
                neighbouring, base = following, (own, following)
            # T_{q-1} + T_{q+1} = 2 N T_q gives the product with N for nothing.
            with_n = 0.5 * (neighbouring + following)
            even, odd = 2.0 * own - base[0], 2.0 * with_n - base[1]
            self.above.append(0.5 * (even + odd))
            self.below.append(0.5 * (even - odd))
            neighbouring = following
            if self._is_done():
                break
            recursion.advance()
        self.block = recursion.before

    @property
    def q(self) -> int:
        """Degree of the last polynomial."""
        return len(self.above) - 1

    def _is_done(self) -> bool:
        if self.q < _FEWEST_STEPS:
            return False
        if self.q >= self._last or max(self.above[-1], self.below[-1]) > self._enough:
            return True
        from_below = _smoothed(self.below, 0) / self._noise
        futile = max(self.signal, from_below) < _FUTILE_SIGNAL
        return self.q == self._judged and self._can_be_smoothed and futile

    @property
    def _can_be_smoothed(self) -> bool:
        # A map moves the eigenvalues near 0 to where smoothing leaves them.
        return self._operator.lowest == -1.0 and self.above[-1] <= self._enough

    @property
    def signal(self) -> float:
        """The last moment, smoothed if that can be done, in units of the noise."""
        last = _smoothed(self.above, 0) if self._can_be_smoothed else self.above[-1]
        return last / self._noise

    @property
    def threshold(self) -> float:
        """What the signal must exceed to be no accident."""
        return NULL_SIGNAL if self._can_be_smoothed else self._enough / self._noise

    @property
    def outgrown_from_below(self) -> bool:
        """Whether eigenvalues below -1 have grown so much that they hide those above 1."""
        return self.below[-1] > max(self._enough, self.above[-1])

    def growth_below(self) -> float:
        """Return the growth of what is below -1."""
        earlier = self.below[-3]
        return (self.below[-1] / earlier) ** 0.25 if earlier > 0.0 else 2.0

    def fitted(self) -> tuple[float, float, float]:
        """Return s, and two estimates of the number of eigenvalues beyond 1."""
        if self.signal <= self.threshold:
            return 1.0, 0.0, 0.0
        # In the first orders the bulk still shows: after few steps neighbours are compared.
        apart = 2 if self.q > _FEWEST_STEPS else 1
        if self._can_be_smoothed:
            last, middle, first = (_smoothed(self.above, apart * step) for step in range(3))
            order, powers = 2.0 * self.q - _SMOOTHING, _SMOOTHING
        else:
            last, middle, first = (self.above[-1 - apart * step] for step in range(3))
            order, powers = 2.0 * self.q, 0
        if middle <= 0.0 or last <= middle:
            return 1.0, 0.0, 0.0
        slope = math.log(last / middle) / (2.0 * apart)
        value = value_of(math.exp(slope))
        log_twice = math.log(4.0 * last / (1.0 + value)) - powers * math.log(value)
        low = math.exp(log_twice - order * slope)
        high = low
        if first > 0.0:
            bend = (slope - math.log(middle / first) / (2.0 * apart)) / (2.0 * apart)
            # The slope belongs to the middle of its interval.
            back = order - apart
            if 0.0 < bend < slope / back:
                straight = slope - bend * back
                high = math.exp(log_twice - order * straight - 0.5 * bend * order * order)
        return growth_of(self._operator.unmapped(value)), low, high


def _smoothed(values: list[float], skipped: int) -> float:
    """Return the binomial mean of the last moments but some; of as many as there are."""
    end = len(values) - skipped
    width = min(_SMOOTHING, end - 1)
    parts = values[end - 1 - width : end]
    return sum(math.comb(width, i) * part for i, part in enumerate(parts)) / 2.0**width


def _means(operator: ThinBlocks, recursion: Recursion) -> tuple[float, float]:
    """Return the mean products of T_{q-1} g with itself and with T_q g."""
    own, following = operator.products_by_column(recursion.before, recursion.now).mean(axis=1)
    return float(own), float(following)
