r"""How many communities there are and how clear they are, from traces of Chebyshev polynomials.

For random vectors g with their Perron part removed, the mean of
:math:`g^T T_{2q}(N) \frac{1 + N}{2} g` is :math:`\sum_i T_{2q}(\nu_i) \frac{1 + \nu_i}{2}`.
The bulk of the spectrum adds next to nothing to it, and k - 1 eigenvalues
:math:`\nu = (s + 1/s)/2` beyond 1 add :math:`s^{2q} / 2` each, up to the last factor. That factor
nearly removes the eigenvalues below -1, of groups whose nodes avoid one another.

Without communities the moments are noise, which is the null test. For it neighboring orders are
averaged with binomial weights, which multiplies the polynomial by :math:`N^6` and so removes the
oscillation that comes from eigenvalues near 0; graphs with many nodes of degree 1 have many.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgroups._progress import tell_share
from kgroups.spectrum.chebyshev import (
    BlockOperator,
    MappedOperator,
    Perron,
    Recursion,
    ThinBlock,
    growth_of,
    start_with_perron,
    value_of,
)
from kgroups.spectrum.operators import BoundOperator

# Signals up to this are noise; ``benchmarks/nulls.py`` measures the errors on both sides.
_NULL_SIGNAL = 5.0
# Columns of the block: random vectors, and one that finds the Perron vector. The noise of a moment
# is the root of n over the number of the random ones.
_COLUMNS = 9
# Smallest degree of the polynomial: below it the bulk still shows in the moments.
_FEWEST_STEPS = 5
# Two communities of this growth outgrow the bulk in the steps that are allowed.
_WEAKEST_GROWTH = 1.25
# Above this many times n the bulk and the noise of the vectors are a few percent.
_ENOUGH = 3.0
# Once an eigenvalue of the weakest growth would be this many times the noise, stop early if the
# signal is below the second number.
_EARLY_CHECK, _EARLY_SIGNAL = 20.0, 0.5
# Order of the binomial average.
_SMOOTHING = 6
# The mapped interval reaches this much farther than the lowest eigenvalue seen.
_MARGIN_BELOW = 1.05
# Largest number of mappings that are tried in search of the lowest eigenvalue.
_MAPPINGS = 4


@dataclass(frozen=True, eq=False)
class Moments:
    """What the Chebyshev moments of N_r say about one connected graph.

    Attributes
    ----------
    k : float
        Estimated number of communities, 1 where nothing grows.
    s : float
        Estimated signal-to-noise ratio, dominated by the clearest communities; 1 where nothing
        grows.
    q : int
        Degree of the last polynomial.
    signal : float
        The last moment in units of its noise; smoothed where it has not outgrown the bulk.
    threshold : float
        What the signal must exceed to be significant.
    operator : MappedOperator
        The operator; mapped on graphs with nodes that avoid one another, so that its ``lowest``
        eigenvalue is below -1.
    perron : Perron
        Largest eigenvalue of N_r, not mapped, and its vector.
    block : ndarray of float32, shape (n, columns)
        The random vectors filtered by T_q or a higher degree; the last column may be 0.
    visits : int
        Matrix entries read.
    """

    k: float
    s: float
    q: int
    signal: float
    threshold: float
    operator: MappedOperator
    perron: Perron
    block: ThinBlock
    visits: int


def moments(
    hessian: BoundOperator | Callable[[float], MappedOperator],
    *,
    columns: int = _COLUMNS,
    seed: int = 0,
) -> Moments:
    """Estimate the number of communities of a connected graph, and how clear they are.

    For a graph that is not in memory, a function returns the operator on blocks of vectors whose
    eigenvalues from a lowest one on are mapped to [-1, 1].

    Examples
    --------
    >>> from kgroups.generators import planted_partition
    >>> from kgroups.spectrum import BetheHessian
    >>> graph, _ = planted_partition(10_000, k=20, degree=15.0, snr=2.0, rng=0)
    >>> found = moments(BetheHessian().bind(graph.simple_adjacency(), weighted=False))
    >>> 15 < found.k < 25, 1.9 < found.s < 2.1
    (True, True)
    """

    def mapped(lowest: float) -> MappedOperator:
        if isinstance(hessian, BoundOperator):
            return BlockOperator(hessian, lowest=lowest)
        return hessian(lowest)

    operator = mapped(-1.0)
    perron, visits = None, 0
    for _ in range(_MAPPINGS):
        series = _Series(operator, perron, columns, seed)
        perron = series.perron
        visits += operator.visits
        if not series.outgrown_from_below:
            break
        reached = operator.unmapped(-value_of(series.growth_below()))
        below = min(operator.lowest, reached)
        operator = mapped(_MARGIN_BELOW * below)
    s, low, high = series.fitted()
    return Moments(
        k=1.0 + math.sqrt(low * high),
        s=s,
        q=series.q,
        signal=series.signal,
        threshold=series.threshold,
        operator=operator,
        perron=series.perron,
        block=series.block,
        visits=visits,
    )


def has_structure(measured: Moments) -> bool:
    """Return whether there are communities, from about 500 nodes on reliably.

    The largest eigenvalue of N_r after the first exceeds 1 on a few percent of random graphs, by
    about n^(-2/3). That is too little to be seen in the moments.

    Examples
    --------
    >>> from kgroups.generators import planted_partition
    >>> from kgroups.spectrum import BetheHessian
    >>> for snr in (0.0, 1.5):
    ...     graph, _ = planted_partition(2_000, k=2, degree=8.0, snr=snr, rng=0)
    ...     hessian = BetheHessian().bind(graph.simple_adjacency(), weighted=False)
    ...     print(has_structure(moments(hessian)))
    False
    True
    """
    return measured.signal > measured.threshold


def _steps_to(size: float, operator: MappedOperator) -> int:
    """Return the q at which an eigenvalue of the weakest growth has a moment of this size."""
    growth = growth_of(operator.mapped(value_of(_WEAKEST_GROWTH)))
    return max(_FEWEST_STEPS, math.ceil(math.log(2.0 * max(1.0, size)) / (2.0 * math.log(growth))))


class _Series:
    """Moments of increasing order of one operator, until the part beyond the bulk has outgrown it.

    ``above[q]`` holds the moment of order 2q for eigenvalues above 1, ``below[q]`` for those below
    -1. Both start with the traces of the identity. Without a ``perron`` pair, which must be that of
    the operator before any mapping, the products with the graph find it as well; that takes one of
    the columns.
    """

    def __init__(
        self, operator: MappedOperator, perron: Perron | None, columns: int, seed: int
    ) -> None:
        self._operator = operator
        self._enough = _ENOUGH * operator.n
        self._last = _steps_to(self._enough, operator)
        start = operator.random_block(columns, np.random.default_rng(seed))
        if perron is None:
            recursion, self.perron, products = start_with_perron(operator, start, last=self._last)
        else:
            recursion, self.perron = Recursion(operator, [perron.deflated], start), perron
            products = [recursion.products()]
        vectors = products[0].shape[1]
        self._noise = math.sqrt(operator.n / vectors)
        self._early = _steps_to(_EARLY_CHECK * self._noise, operator)
        self.above: list[float] = []
        self.below: list[float] = []
        preceding, base = 0.0, (0.0, 0.0)
        while True:
            # Mean products of T_{q-1} g with itself and with T_q g.
            own, following = products[len(self.above)].mean(axis=1).tolist()
            if not self.above:
                preceding, base = following, (own, following)
            # T_{q-1} + T_{q+1} = 2 N T_q gives the product with N without a multiplication.
            with_n = 0.5 * (preceding + following)
            even, odd = 2.0 * own - base[0], 2.0 * with_n - base[1]
            self.above.append(0.5 * (even + odd))
            self.below.append(0.5 * (even - odd))
            preceding = following
            if self._is_done():
                break
            if len(self.above) == len(products):
                recursion.advance()
                tell_share(recursion.q, self._last)
                products.append(recursion.products()[:, :vectors])
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
        weak = max(self.signal, from_below) < _EARLY_SIGNAL
        return self.q == self._early and self._can_be_smoothed and weak

    @property
    def _can_be_smoothed(self) -> bool:
        # A mapping moves the eigenvalues near 0 to where smoothing does not remove them.
        return self._operator.lowest == -1.0 and self.above[-1] <= self._enough

    @property
    def signal(self) -> float:
        """The last moment, smoothed if that can be done, in units of the noise."""
        last = _smoothed(self.above, 0) if self._can_be_smoothed else self.above[-1]
        return last / self._noise

    @property
    def threshold(self) -> float:
        """What the signal must exceed to be significant."""
        return _NULL_SIGNAL if self._can_be_smoothed else self._enough / self._noise

    @property
    def outgrown_from_below(self) -> bool:
        """Whether eigenvalues below -1 have grown so much that they hide those above 1."""
        return self.below[-1] > max(self._enough, self.above[-1])

    def growth_below(self) -> float:
        """Return the growth of the eigenvalues below -1."""
        earlier = self.below[-3]
        return (self.below[-1] / earlier) ** 0.25 if earlier > 0.0 else 2.0

    def fitted(self) -> tuple[float, float, float]:
        """Return s, and two estimates of the number of eigenvalues above 1.

        The first is for equal eigenvalues, an underestimate where they differ, the second for
        normally distributed log s.
        """
        if self.signal <= self.threshold:
            return 1.0, 0.0, 0.0
        # The bulk still shows in the first orders: after few steps compare adjacent ones.
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
            curvature = (slope - math.log(middle / first) / (2.0 * apart)) / (2.0 * apart)
            # The slope belongs to the middle of its interval.
            back = order - apart
            if 0.0 < curvature < slope / back:
                straight = slope - curvature * back
                high = math.exp(log_twice - order * straight - 0.5 * curvature * order * order)
        return growth_of(self._operator.unmapped(value)), low, high


def _smoothed(values: list[float], skipped: int) -> float:
    """Return the binomial mean of the last moments, without the last ``skipped`` ones."""
    end = len(values) - skipped
    width = min(_SMOOTHING, end - 1)
    parts = values[end - 1 - width : end]
    return sum(math.comb(width, i) * part for i, part in enumerate(parts)) / 2.0**width
