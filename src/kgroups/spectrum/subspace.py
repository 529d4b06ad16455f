r"""Eigenvectors and eigenvalues of N_r above 1 by a Chebyshev filter, on large graphs.

The filter amplifies what is above 1 in a block of random vectors. Ritz values never exceed
eigenvalues, so those above 1 are a lower bound on their number. For the leading pairs the Ritz
vectors are filtered again until their number above 1 does not change.

A count is verified. Vectors :math:`V` found by the filter give a lower bound:
:math:`T = V^T N V` has no more eigenvalues above 1 than N has. For the upper bound a block of
independent random vectors is filtered on the complement of V. An eigenvalue of at least
:math:`\theta` there would make one of its columns grow; if none does, all are below
:math:`\theta < 1`, and N has no more eigenvalues above 1 than :math:`T + R^T R / (1 - \theta)`
with the residual :math:`R = N V - V T`. The count is exact where the two bounds meet. What grows is
added to V, as long as the work is within limits.

Where there are too many eigenvalues to find, their number is estimated as the trace of a step
function of N. With the step expanded in Chebyshev polynomials,

.. math:: \#\{\nu > 1\} \approx \sum_m c_m \, \mathbb{E}\, g^T T_m(\tilde N) g,

where :math:`\tilde N` is N mapped to [-1, 1] and g are random sign vectors. Jackson's factors in
:math:`c_m` smooth the step over a width that decreases as one over the degree.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgroups._types import Bools, Floats
from kgroups.spectrum.chebyshev import (
    BlockOperator,
    Deflated,
    MappedOperator,
    Recursion,
    ThinBlock,
    growth_of,
    ritz_pairs,
    steps_between,
    subtract_products,
    value_of,
)
from kgroups.spectrum.eigenpairs import PartialEigenpairsError, lanczos_pairs, rough_top
from kgroups.spectrum.moments import Moments, moments
from kgroups.spectrum.operators import BoundOperator, above_threshold

# Random columns of a verification, and the probability that an eigenvector is missed by them all.
_VERIFYING = 8
_MISSED = 1e-9
# With that probability, as many standard normal numbers are all smaller than this in magnitude.
_SMALL_PART = math.sqrt(math.pi / 2.0) * _MISSED ** (1.0 / _VERIFYING)
# Passes of the filter over a block in which something has grown.
_PASSES = 3
# Eigenvalues closer to 1 than this are left undecided, unless their vectors have converged.
_FINEST = 1e-4
# The bulk of a random graph ends about n^(-2/3) from 1; the first verification reaches this far.
_BULK_EDGES = 4.0
# Limits of float32, in which weak vectors are lost beside strong ones: a block is filtered until
# its entries reach the first number, and in a pass no vector may outgrow others by more than the
# second.
_LARGEST_ENTRY = 1e3
_LARGEST_LIFT = 200.0
# Precision of the eigenvalues at both ends of the spectrum, and a margin beyond them.
_ROUGH_END, _MARGIN = 1e-2, 0.02
# Residual at which the passes end.
_ROUGH = 1e-3
# Precision of the largest eigenvalues that are not above 1.
_NEXT_VALUE = 1e-4
# Vectors that grow faster than this are improved before the others, and deflated for them.
_FAST_GROWTH = 2.0
# Columns that a block may always have. Larger ones are limited by the work of a product with the
# graph, and by that of the products of all columns with one another.
_COLUMNS = 128
_COLUMNS_TIMES_ENTRIES, _ROWS_TIMES_SQUARED_COLUMNS = 4e8, 1e10
# Verifications before the count is left undecided.
_ROUNDS = 12
# A vector has converged if its residual moves its value by at most this share of the way to 1. One
# above 1 is deflated before if its residual is below the second number.
_CONVERGED, _USABLE = 0.1, 0.02
# Smallest growth that the degree of the filter is chosen for.
_WEAKEST_GROWTH = 1.15
# Amplification of an eigenvector relative to the bulk that makes it stand out of random columns,
# and the largest before float32 loses the weaker eigenvectors.
_LIFT, _HIDING_LIFT = 100.0, 1e4
# Range of the degree of the filter.
_FEWEST_STEPS, _MOST_STEPS = 12, 40
# Extra columns of a block: a share of the eigenvectors to find, and a fixed number.
_SPARE_SHARE, _SPARE = 0.4, 4
# Largest number of passes over a block; Ritz values that rise by less in a pass are final.
_LEADING_PASSES = 12
_FINAL_RISE = 0.01
# Ritz values above the first number will rise to an eigenvalue above 1, as those of the bulk of a
# filtered block are near 0; one above the second number may rise beyond 1.
_RISING, _NEAR = 0.5, 0.9
# Random vectors of an estimate by the trace, and products with the graph.
_TRACE_VECTORS, _TRACE_PRODUCTS = 16, 150
# Standard errors between such an estimate and the ends of its range.
_TRACE_ERRORS = 3.0


class _Pairs(NamedTuple):
    """Decreasing Ritz values of ``sign * N``, Ritz vectors, and the norms of their residuals."""

    values: Floats
    vectors: ThinBlock
    residuals: Floats


@dataclass(frozen=True, eq=False)
class Subspace:
    """A Chebyshev filter on the complement of deflated vectors, for values above 1 - gap.

    The filtering of a block ends where its Ritz values are final, as for leading pairs, or where
    random columns verify that nothing is left.
    """

    operator: MappedOperator
    deflated: list[Deflated]
    sign: int = 1
    gap: float = 0.0

    @property
    def theta(self) -> float:
        """The bound on the eigenvalues that a verification shows."""
        return 1.0 - 0.5 * self.gap

    def growth(self, values: Floats) -> Floats:
        """Return by how much eigenvalues of ``sign * N`` grow in a step."""
        mapped = self.operator.mapped(self.sign * values)
        return np.array([growth_of(value) for value in mapped.tolist()])

    @property
    def _growth(self) -> float:
        return float(self.growth(np.array([self.theta]))[0])

    @property
    def _degree(self) -> int:
        """The degree at which an eigenvector at theta outgrows the bulk, of squared length n."""
        enough = math.sqrt(2.0 * self.operator.n) / _SMALL_PART
        return math.ceil(math.log(2.0 * enough) / math.log(self._growth))

    def verified(self, columns: int, rng: np.random.Generator) -> tuple[ThinBlock, bool]:
        """Filter random columns, and return whether they grew as by an eigenvalue of theta.

        Except with probability ``_MISSED``, one of the columns has a part of at least
        ``_SMALL_PART`` along an eigenvector, and T_q multiplies that by at least T_q(theta).
        """
        X = self.operator.normal_block(columns, rng)
        recursion = self.filtered(X, self._degree, largest=_LARGEST_ENTRY)
        squares, _ = self.operator.products_by_column(recursion.now, recursion.now)
        reached = _SMALL_PART * 0.5 * self._growth**recursion.q
        return recursion.now, bool(np.any(squares >= reached * reached))

    def filtered(self, X: ThinBlock, degree: int, *, largest: float = math.inf) -> Recursion:
        """Filter a block, whose memory is used, to a lower degree if an entry grows too large."""
        recursion = Recursion(self.operator, self.deflated, X)
        recursion.advance_to(degree, largest=largest)
        return recursion

    def ritz_pairs(self, X: ThinBlock) -> tuple[Floats, ThinBlock]:
        """Return Ritz values of ``sign * N``, in decreasing order, and Ritz vectors of a block."""
        values, X = ritz_pairs(self.operator, X)
        return self.sign * self.operator.unmapped(values), X

    def refined(self, X: ThinBlock) -> _Pairs:
        """Filter a block repeatedly until what grows has converged."""
        values, X = self.ritz_pairs(X)
        for _ in range(_PASSES):
            degree = min(self._degree, steps_between(self.growth(values).max(), _LARGEST_LIFT))
            X = self.filtered(X, degree, largest=_LARGEST_ENTRY).now
            values, X = self.ritz_pairs(X)
            residuals = self._residuals(values, X)
            if np.max(residuals[values > 1.0 - self.gap], initial=0.0) < _ROUGH:
                break
        return _Pairs(values, X, residuals)

    def _residuals(self, values: Floats, X: ThinBlock) -> Floats:
        mapped = self.operator.mapped(self.sign * values).astype(np.float32)
        image = np.empty_like(X)
        self.operator.matmat(X, image)
        image -= X * mapped
        squares, _ = self.operator.products_by_column(image, image)
        scale = 0.5 * abs(self.operator.highest - self.operator.lowest)
        return np.asarray(scale * np.sqrt(squares))

    def usable(self, pairs: _Pairs) -> Bools:
        """Return which pairs to deflate: those near 1 and above that have converged.

        Above 1 a Ritz value is a lower bound on an eigenvalue, however rough. Below 1 the residual
        must decide on which side of 1 the eigenvalue is.
        """
        values, residuals = pairs.values, pairs.residuals
        decided = np.square(residuals) < _CONVERGED * self.gap * np.abs(values - 1.0)
        rough = (values > 1.0) & (residuals < _USABLE)
        return np.asarray((values > 1.0 - self.gap) & (decided | rough))


def edge_of_noise(n: int) -> float:
    """Return the value that eigenvalues of N_r do not exceed in a random graph.

    The largest eigenvalue of the bulk fluctuates around 1 by a multiple of n^(-2/3).
    """
    return 1.0 + math.pow(n, -2.0 / 3.0)


@dataclass(frozen=True, eq=False)
class Leading:
    """Leading eigenpairs of P, the Perron pair first.

    Attributes
    ----------
    values : ndarray of shape (found,)
        Ritz values in decreasing order: those above the edge of noise, or as many as requested.
    vectors : ndarray of float32, shape (n, found)
        Their vectors, of unit length for the operator. A row times the square root of Delta is
        a row of eigenvectors of N_r; normalized rows are the same for both.
    complete : bool
        False if the search ended at its limits before the values had converged.
    """

    values: Floats
    vectors: ThinBlock
    complete: bool

    @property
    def k(self) -> int:
        """Number of pairs."""
        return self.values.size


def leading_pairs(
    measured: Moments, *, count: int | None = None, most: int = 160, edge: float | None = None
) -> Leading:
    """Find the eigenpairs above ``edge``, by default that of noise, or the ``count`` leading ones.

    The estimates in the moments determine the size of the block and the degree of the polynomial,
    and the search starts from their block. Where ``count`` is not given, it ends at ``most``
    columns.
    """
    operator, n = measured.operator, measured.operator.n
    subspace = Subspace(operator, [measured.perron.deflated])
    edge = operator.mapped(edge_of_noise(n) if edge is None else edge)
    growth = max(_WEAKEST_GROWTH, growth_of(operator.mapped(value_of(measured.s))))
    rng = np.random.default_rng(1)
    expected = measured.k if count is None else float(count)
    most = most if count is None else max(most, columns_for(count))
    columns = min(n - 1, most, columns_for(expected))
    block = _wider(subspace, measured.block.copy(), columns, growth, rng)
    values, block = ritz_pairs(operator, block)
    above, converged = _count_above(values, edge, count), False
    for _ in range(_LEADING_PASSES):
        rising = max(above, int(np.count_nonzero(values > _RISING)))
        crowded = rising + 2 > block.shape[1]
        if crowded and count is None and block.shape[1] >= most:
            break
        if crowded and block.shape[1] < min(most, n - 1):
            columns = min(n - 1, most, 2 * block.shape[1])
            block = _wider(subspace, block, columns, growth, rng)
        else:
            block = np.ascontiguousarray(block[:, : _rounded_up(rising + _SPARE)])
        top = growth_of(float(values[0])) if values.size else growth
        steps = min(_steps(n, columns, growth) // 2, _most_steps(top))
        last = values
        values, block = ritz_pairs(operator, subspace.filtered(block, steps).now)
        before, above = above, _count_above(values, edge, count)
        if count is None:
            following = slice(above, above + 1)
            near = above < values.size and values[above] > _NEAR
            rises = near and _largest_rise(values[following], last[following]) > _FINAL_RISE / 4.0
            converged = above < values.size and above in (before, rising) and not rises
        else:
            met = before == above == count - 1
            converged = met and _largest_rise(values[:above], last[:above]) < _FINAL_RISE
        if converged:
            break
    return Leading(
        values=np.concatenate([[measured.perron.value], operator.unmapped(values[:above])]),
        vectors=np.concatenate([measured.perron.vector, block[:, :above]], axis=1),
        complete=converged,
    )


def _largest_rise(values: Floats, last: Floats) -> float:
    if values.size != last.size:
        return math.inf
    return float(np.max(values - last, initial=0.0))


def columns_for(k: float) -> int:
    """Return how many columns a block needs to find k eigenvectors."""
    return _rounded_up(math.ceil((1.0 + _SPARE_SHARE) * (k - 1.0)) + _SPARE)


def _rounded_up(columns: int) -> int:
    """Return the next multiple of 8, which the kernels multiply in the same time."""
    return -8 * (-columns // 8)


def _steps(n: int, columns: int, growth: float) -> int:
    """Return the degree at which an eigenvector of this growth stands out of random columns."""
    degree = math.log(_LIFT * n / columns) / (2.0 * math.log(growth))
    return int(min(max(math.ceil(degree), _FEWEST_STEPS), _MOST_STEPS))


def _most_steps(growth: float) -> int:
    """Return the degree at which an eigenvector of this growth hides the rest from float32."""
    return max(2, int(math.log(_HIDING_LIFT) / math.log(max(growth, _WEAKEST_GROWTH))))


def _wider(
    subspace: Subspace, block: ThinBlock, columns: int, growth: float, rng: np.random.Generator
) -> ThinBlock:
    """Return the block extended to ``columns`` columns by filtered random ones."""
    operator = subspace.operator
    if block.shape[1] >= columns:
        return block
    values, held = ritz_pairs(operator, block)
    top = growth_of(float(values[0])) if values.size else growth
    new = operator.random_block(columns - held.shape[1], rng)
    steps = min(_steps(operator.n, columns, growth), _most_steps(top))
    filtered = subspace.filtered(new, steps).now
    # The vectors held would fill the new columns to the last digit of float32.
    subtract_products(operator, held, filtered)
    return np.concatenate([held, filtered], axis=1)


def _count_above(values: Floats, edge: float, count: int | None) -> int:
    if count is not None:
        return min(count - 1, values.size)
    return int(np.count_nonzero(values > edge))


def most_columns(hessian: BoundOperator) -> int:
    """Return how many columns a block may have on a graph."""
    by_entries = _COLUMNS_TIMES_ENTRIES / max(1, hessian.nnz)
    by_rows = math.sqrt(_ROWS_TIMES_SQUARED_COLUMNS / hessian.n)
    return max(_COLUMNS, int(min(by_entries, by_rows)))


@dataclass(frozen=True, eq=False)
class FilteredCount:
    """Eigenvalues above 1 that a filter found, and bounds on their number.

    The bounds are equal where the count is exact, except for a probability of 1e-9 that the random
    vectors missed an eigenvalue. The values, in decreasing order, include some next to 1 that are
    not above it; there are none if there were too many to find.
    """

    k: int
    k_low: int
    k_high: int
    values: Floats
    vectors: ThinBlock


def count_by_filter(
    hessian: BoundOperator,
    *,
    sign: int = 1,
    start: ThinBlock | None = None,
    with_next: bool = False,
) -> FilteredCount:
    """Count the eigenvalues of ``sign * N`` above 1 of a connected graph.

    ``start`` are vectors to start from, such as those found at another r. With ``with_next`` the
    largest eigenvalue that is not above 1 is found too, to about three digits. Where there are
    too many eigenvalues to find them all, their number is estimated by the trace.
    """
    search = _Search(hessian, sign)
    if start is not None and start.shape[1]:
        search.improve(start)
    elif sign > 0:
        measured = moments(hessian)
        if columns_for(measured.k) > search.most:
            return search.estimated()
        leading = leading_pairs(measured, most=search.most, edge=1.0)
        search.improve(leading.vectors)
        if not leading.complete and columns_for(leading.k) >= search.most:
            return search.estimated()
    return search.run(with_next=with_next)


class _Search:
    """Vectors of eigenvalues of ``sign * N`` near 1 and above, and the rounds that find them."""

    def __init__(self, hessian: BoundOperator, sign: int) -> None:
        self._hessian, self._sign = hessian, sign
        self.most = most_columns(hessian)
        # The end of an interval in which eigenvalues at the other end of the spectrum do not grow.
        self._other_end = -sign * (1.0 + _MARGIN) * max(1.0, _rough_end(hessian, -sign))
        self._values = np.zeros(0)
        self._vectors = np.zeros((hessian.n, 0), dtype=np.float32)

    def _add(self, pairs: "_Pairs", which: Bools) -> None:
        """Add some Ritz pairs, whose vectors are orthonormal to those held."""
        values = np.concatenate([self._values, pairs.values[which]])
        order = np.argsort(-values, kind="stable")
        self._values = values[order]
        self._vectors = np.concatenate([self._vectors, pairs.vectors[:, which]], axis=1)[:, order]

    def improve(self, X: ThinBlock) -> None:
        """Add vectors, filtered until they are nearly orthogonal to what is left.

        Those that grow fastest come first and are deflated for the others.
        """
        filtering = self._filter(self._first_gap)
        values, X = filtering.ritz_pairs(X.copy())
        fast = filtering.growth(values) > _FAST_GROWTH
        for some in (fast, ~fast):
            if some.any():
                filtering = self._filter(self._first_gap)
                pairs = filtering.refined(np.ascontiguousarray(X[:, some]))
                self._add(pairs, filtering.usable(pairs))

    @property
    def _first_gap(self) -> float:
        """How far below 1 the first verification reaches."""
        return max(2.0 * _FINEST, _BULK_EDGES * math.pow(self._hessian.n, -2.0 / 3.0))

    def run(self, *, with_next: bool) -> FilteredCount:
        """Verify that nothing is left above 1, and find what is, until the bounds meet."""
        rng = np.random.default_rng(2)
        gap, columns, near = self._first_gap, _VERIFYING, 0
        promising = np.zeros((self._hessian.n, 0), dtype=np.float32)
        for _ in range(_ROUNDS):
            filtering = self._filter(gap)
            X, grown = filtering.verified(columns, rng)
            if not grown:
                low, high, values = self._proven_range(filtering.theta)
                # All that is left is below theta, but may be above those found below 1.
                if with_next and not np.any(values[low:] >= filtering.theta):
                    values = np.sort([*values, *self._largest_left()])[::-1]
                return FilteredCount(low, low, high, values, self._vectors)
            pairs = filtering.refined(np.concatenate([X, promising], axis=1))
            if pairs.values[-1] < self._sign * self._other_end:
                self._other_end = self._sign * (1.0 + _MARGIN) * float(pairs.values[-1])
                continue
            usable, growing = filtering.usable(pairs), pairs.values > 1.0 - gap
            self._add(pairs, usable)
            if self._values.size > self.most:
                return self.estimated()
            promising = np.ascontiguousarray(pairs.vectors[:, growing & ~usable])
            near = promising.shape[1]
            if 2 * np.count_nonzero(pairs.values > 1.0) > columns:
                columns = min(2 * columns, self.most)
            left = pairs.values[(pairs.values <= 1.0) & ~usable]
            closest = 1.0 - float(left.max(initial=0.0))
            if closest < gap or not usable.any():
                gap = max(_FINEST, min(closest, 0.5 * gap))
        return self.estimated(undecided=near)

    def estimated(self, *, undecided: int = 0) -> FilteredCount:
        """Return a count that is not verified: the vectors found, and an estimate by the trace.

        Where the rounds have ended, at least ``undecided`` eigenvalues next to 1 are left.
        """
        low, _, values = self._proven_range(None)
        if self._sign < 0 or undecided:
            return FilteredCount(low, low, low + 2 * max(1, undecided), values, self._vectors)
        highest = (1.0 + _MARGIN) * max(1.0, _rough_end(self._hessian, self._sign))
        k, k_low, k_high = count_by_trace(self._hessian, lowest=self._other_end, highest=highest)
        k_low = max(low, k_low)
        k = max(k_low, k)
        return FilteredCount(k, k_low, max(k + 1, k_high), np.zeros(0), self._vectors)

    def _filter(self, gap: float) -> "Subspace":
        """Return the filter on the complement under which eigenvalues up to 1 - gap do not grow."""
        highest = self._sign * (1.0 - gap)
        operator = BlockOperator(self._hessian, lowest=self._other_end, highest=highest)
        filtering = Subspace(operator, [], self._sign, gap)
        steps = np.array([steps_between(growth) for growth in filtering.growth(self._values)])
        # Groups of vectors that are subtracted every 1, 2, 4, 8 ... steps.
        level = np.floor(np.log2(steps)).astype(np.int64)
        for own in np.unique(level).tolist():
            vectors = np.ascontiguousarray(self._vectors[:, level == own])
            filtering.deflated.append(Deflated(vectors, 2**own))
        return filtering

    def _largest_left(self) -> Floats:
        """Return the largest eigenvalues on the complement, or none if Lanczos fails."""
        from scipy.sparse.linalg import LinearOperator

        n, scale = self._hessian.n, np.sqrt(self._hessian.scale)
        V = np.linalg.qr(scale[:, np.newaxis] * self._vectors)[0]
        matrix = self._hessian.normalized_matrix() * float(self._sign)

        def projected(x: Floats) -> Floats:
            return np.asarray(x - V @ (V.T @ x))

        rest = LinearOperator(
            (n, n), matvec=lambda x: projected(matrix @ projected(x.reshape(n))), dtype=float
        )
        start = projected(np.random.default_rng(4).standard_normal(n))
        try:
            # Two, because one alone may converge to the second.
            return lanczos_pairs(rest, 2, start, tolerance=_NEXT_VALUE)[0]
        except PartialEigenpairsError as error:
            return error.eigenvalues

    def _proven_range(self, theta: float | None) -> tuple[int, int, Floats]:
        """Return bounds on the count and Ritz values, in double precision.

        The upper bound needs a bound theta on the eigenvalues that are left.
        """
        V = self._vectors.astype(float)
        if not V.shape[1]:
            return 0, 0, np.zeros(0)
        diagonal = self._hessian.scale[:, np.newaxis]
        image = self._hessian.coupling_matrix() @ V
        root = np.linalg.inv(np.linalg.cholesky(V.T @ (diagonal * V)))
        T = root @ (V.T @ image) @ root.T
        values = np.linalg.eigvalsh(self._sign * (T + T.T) / 2.0)[::-1]
        low = high = int(np.count_nonzero(above_threshold(values)))
        if theta is not None:
            square = root @ (image.T @ (image / diagonal)) @ root.T - T @ T
            lifted = np.linalg.eigvalsh(self._sign * T + square / (1.0 - theta))
            high = int(np.count_nonzero(above_threshold(lifted)))
        return low, max(low, high), values


def _rough_end(hessian: BoundOperator, sign: int) -> float:
    """Return the largest eigenvalue of ``sign * N`` to two digits, or a bound if Lanczos fails."""
    try:
        return rough_top(hessian, sign=sign, tolerance=_ROUGH_END)
    except PartialEigenpairsError:
        return float(np.max(hessian.coupling_matrix().sum(axis=1) / hessian.scale))


def count_by_trace(
    hessian: BoundOperator, *, lowest: float, highest: float
) -> tuple[int, int, int]:
    """Estimate the number of eigenvalues of N_r above 1, and a range in which it should lie.

    All eigenvalues must be from ``lowest`` to ``highest``. The range allows for three standard
    errors, and for eigenvalues so close to 1 that the smoothed step does not separate them.
    """
    operator = BlockOperator(hessian, lowest=lowest, highest=highest)
    traces = _trace_moments(operator)
    # The smoothed step rises over about this width to both sides.
    width = math.pi / len(traces) * 0.5 * (highest - lowest)
    at, beyond, before = (
        _above(traces, operator.mapped(threshold))
        for threshold in (1.0, min(1.0 + width, highest), 1.0 - width)
    )
    errors = _TRACE_ERRORS / math.sqrt(_TRACE_VECTORS)
    low = float(beyond.mean()) - errors * float(beyond.std(ddof=1))
    high = float(before.mean()) + errors * float(before.std(ddof=1))
    k = min(max(round(float(at.mean())), 1), hessian.n)
    k_low = min(max(math.floor(low), 1), k)
    return k, k_low, max(min(math.ceil(high), hessian.n), k, k_low + 1)


def _trace_moments(operator: MappedOperator) -> Floats:
    """Return g^T T_m g for each degree m and each random vector g."""
    block = operator.random_block(_TRACE_VECTORS, np.random.default_rng(3))
    recursion = Recursion(operator, [], block)
    even, odd = operator.products_by_column(recursion.before, recursion.now)
    traces = [even, odd]
    for _ in range(_TRACE_PRODUCTS):
        recursion.advance()
        own, following = operator.products_by_column(recursion.before, recursion.now)
        # 2 T_q T_q = T_2q + 1 and 2 T_q T_(q+1) = T_(2q+1) + T_1.
        traces += [2.0 * own - even, 2.0 * following - odd]
    return np.array(traces)


def _above(traces: Floats, threshold: float) -> Floats:
    """Return the estimate of each vector of the number of eigenvalues above a threshold."""
    size = len(traces)
    m = np.arange(size)
    angle = math.acos(threshold)
    steps = np.concatenate([[angle], 2.0 * np.sin(m[1:] * angle) / m[1:]]) / math.pi
    turn = math.pi / (size + 1)
    jackson = (size - m + 1) * np.cos(m * turn) + np.sin(m * turn) / math.tan(turn)
    return np.asarray((steps * jackson / (size + 1)) @ traces)
