r"""Eigenvalues of N_r beyond 1 where the graph is too large for a factorization.

Vectors :math:`V` found by a Chebyshev filter give a lower bound: :math:`T = V^T N V` has no more
eigenvalues above 1 than N has. For the upper bound a block of independent random vectors is
filtered on the complement of V. An eigenvalue of at least :math:`\theta` there would make one of
its columns grow; if none does, all are below :math:`\theta < 1`, and N has no more eigenvalues
above 1 than :math:`T + R^T R / (1 - \theta)` with the residual :math:`R = N V - V T`. The count is
exact where the two bounds meet. What grows is added to V, as long as the work is within bounds.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kgroups._types import Bools, Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.chebyshev import (
    Deflated,
    Recursion,
    growth_of,
    ritz_pairs,
    steps_between,
)
from kgroups.spectrum.chebyshev_operator import ThinBlock, ThinBlocks
from kgroups.spectrum.filtered import columns_for, leading_pairs
from kgroups.spectrum.lanczos import (
    PartialEigenpairsError,
    lanczos_pairs,
    rough_top,
)
from kgroups.spectrum.moments import moments
from kgroups.spectrum.trace_count import count_by_trace

__all__ = ["NOISE", "FilteredCount", "count_by_filter"]

NOISE = 1e-9
"""Eigenvalues this close to 1 are not beyond it."""

# Columns of the largest block: this many, or more on small graphs. The numbers below limit the work
# of a product with the graph, and of the products of all columns with one another.
_COLUMNS = 128
_COLUMNS_TIMES_ENTRIES = 4e8
_ROWS_TIMES_SQUARED_COLUMNS = 1e10
# Random columns of a verification, and the probability that an eigenvector hides from all of them.
_VERIFYING = 8
_MISSED = 1e-9
# All so many standard normal numbers are smaller than this in size with that probability.
_SMALL_PART = math.sqrt(math.pi / 2.0) * _MISSED ** (1.0 / _VERIFYING)
# Verifications, and passes of the filter over a block that has grown in one.
_ROUNDS = 12
_PASSES = 3
# Eigenvalues closer to 1 than this are left undecided, unless their vectors have converged.
_FINEST = 1e-4
# The bulk of a random graph ends about n^(-2/3) from 1; the first verification looks this far.
_BULK_EDGES = 4.0
# A block whose entries have grown to this is filtered no further: what grows slower would be lost
# in float32. For the same reason no vector may outgrow others by more than the second number in a
# pass.
_LARGEST_ENTRY = 1e3
_LARGEST_LIFT = 200.0
# A vector has converged if its residual moves its value by at most this part of the way to 1.
_CONVERGED = 0.1
# Precision of the eigenvalues at both ends of the spectrum, and a margin beyond them.
_ROUGH_END, _MARGIN = 1e-2, 0.02
# Residuals of vectors found by the first, rough filter.
_ROUGH = 1e-3
# Vectors with larger residuals are not worth deflating.
_USABLE = 0.02
# Precision of the largest eigenvalues that are not beyond 1.
_NEXT_VALUE = 1e-4
# Vectors that grow faster than this are improved before the others, and deflated for them.
_FAST_GROWTH = 2.0


@dataclass(frozen=True, eq=False)
class FilteredCount:
    """Eigenvalues beyond 1 that a filter found, and bounds on their number.

    Attributes
    ----------
    k : int
        The number of eigenvalues beyond 1, or the best estimate.
    k_low, k_high : int
        Equal where the count is exact, but for a probability of 1e-9 that the random vectors missed
        one. Else a range in which the number should lie.
    values : ndarray
        The eigenvalues found, falling: those beyond 1, and some next to 1 that are not. Empty if
        there were too many to find.
    vectors : ndarray of float32, shape (n, found)
        Their vectors, where they were found by the filter.
    """

    k: int
    k_low: int
    k_high: int
    values: Floats
    vectors: ThinBlock


def count_by_filter(
    bound: BoundBetheHessian,
    *,
    sign: int = 1,
    start: ThinBlock | None = None,
    with_next: bool = False,
) -> FilteredCount:
    """Count the eigenvalues of ``sign * N`` above 1.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator, of a connected graph.
    sign : {1, -1}
        Which end of the spectrum.
    start : ndarray of float32, optional
        Vectors to start from, such as those found at another r.
    with_next : bool
        Whether the largest eigenvalue that is not beyond 1 is wanted too, to about three digits.

    Returns
    -------
    FilteredCount
        An estimate by the trace where there are too many eigenvalues to find them all.
    """
    search = _Search(bound, sign, _most_columns(bound))
    if start is not None and start.shape[1]:
        search.improve(start)
        return search.run(with_next=with_next)
    if sign < 0:
        return search.run(with_next=with_next)
    found = moments(bound)
    if columns_for(found.k) > search.most:
        return search.estimated()
    leading = leading_pairs(found, most=search.most, edge=1.0)
    search.improve(leading.vectors)
    if not leading.complete and columns_for(leading.k) >= search.most:
        return search.estimated()
    return search.run(with_next=with_next)


def _most_columns(bound: BoundBetheHessian) -> int:
    by_products = _COLUMNS_TIMES_ENTRIES / max(1, bound.nnz)
    by_columns = math.sqrt(_ROWS_TIMES_SQUARED_COLUMNS / bound.n)
    return max(_COLUMNS, int(min(by_products, by_columns)))


class _Search:
    """Vectors of eigenvalues of ``sign * N`` about 1 and beyond, and the rounds that find them.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator.
    sign : {1, -1}
        Which end of the spectrum.
    most : int
        How many vectors may be found.
    """

    def __init__(self, bound: BoundBetheHessian, sign: int, most: int) -> None:
        self._bound, self._sign, self.most = bound, sign, most
        # Eigenvalues at the other end are kept from growing, whatever they are.
        self._other_end = -sign * (1.0 + _MARGIN) * max(1.0, _rough_end(bound, -sign))
        self._values = np.zeros(0)
        self._vectors = np.zeros((bound.n, 0), dtype=np.float32)

    def _add(self, pairs: "_Pairs", which: Bools) -> None:
        """Take in some Ritz pairs, whose vectors are orthonormal to those that are here."""
        values = np.concatenate([self._values, pairs.values[which]])
        order = np.argsort(-values, kind="stable")
        self._values = values[order]
        self._vectors = np.concatenate([self._vectors, pairs.vectors[:, which]], axis=1)[:, order]

    def improve(self, X: ThinBlock) -> None:
        """Take in vectors, filtered until they are nearly orthogonal to what is left.

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
        """How far below 1 the first verification looks."""
        return max(2.0 * _FINEST, _BULK_EDGES * math.pow(self._bound.n, -2.0 / 3.0))

    def run(self, *, with_next: bool) -> FilteredCount:
        """Verify that nothing is left beyond 1, and find what is, until the bounds meet."""
        rng = np.random.default_rng(2)
        gap, columns, near = self._first_gap, _VERIFYING, 0
        promising = np.zeros((self._bound.n, 0), dtype=np.float32)
        for _ in range(_ROUNDS):
            filtering = self._filter(gap)
            X, grown = filtering.verified(columns, rng)
            if not grown:
                low, high, values = self._bounds(filtering.theta)
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

        Where the rounds have ended, ``undecided`` eigenvalues next to 1 are left at least.
        """
        low, _, values = self._bounds(None)
        if self._sign < 0 or undecided:
            return FilteredCount(low, low, low + 2 * max(1, undecided), values, self._vectors)
        highest = (1.0 + _MARGIN) * max(1.0, _rough_end(self._bound, self._sign))
        trace = count_by_trace(self._bound, lowest=self._other_end, highest=highest)
        k_low = max(low, trace.k_low)
        k = max(k_low, trace.k)
        return FilteredCount(k, k_low, max(k + 1, trace.k_high), np.zeros(0), self._vectors)

    def _filter(self, gap: float) -> "_Filter":
        """Return the filter on the complement under which eigenvalues up to 1 - gap do not grow."""
        operator = ThinBlocks(self._bound, lowest=self._other_end, highest=self._sign * (1.0 - gap))
        filtering = _Filter(operator, [], self._sign, gap)
        steps = np.array([steps_between(growth) for growth in filtering.growth(self._values)])
        # Groups of vectors that are subtracted every 1, 2, 4, 8 ... steps.
        pace = np.floor(np.log2(steps)).astype(np.int64)
        for level in np.unique(pace).tolist():
            vectors = np.ascontiguousarray(self._vectors[:, pace == level])
            filtering.deflated.append(Deflated(vectors, 2**level))
        return filtering

    def _largest_left(self) -> Floats:
        """Return the largest eigenvalues on the complement, or none if Lanczos fails."""
        from scipy.sparse.linalg import LinearOperator

        n, scale = self._bound.n, np.sqrt(self._bound.diagonal)
        V = np.linalg.qr(scale[:, np.newaxis] * self._vectors)[0]
        matrix = self._bound.normalized_matrix() * float(self._sign)

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

    def _bounds(self, theta: float | None) -> tuple[int, int, Floats]:
        """Return bounds on the count, the upper one if theta bounds what is left, and Ritz values.

        In double precision, for the vectors as they are.
        """
        V = self._vectors.astype(float)
        if not V.shape[1]:
            return 0, 0, np.zeros(0)
        diagonal = self._bound.diagonal[:, np.newaxis]
        image = self._bound.coupling_matrix() @ V
        root = np.linalg.inv(np.linalg.cholesky(V.T @ (diagonal * V)))
        T = root @ (V.T @ image) @ root.T
        values = np.linalg.eigvalsh(self._sign * (T + T.T) / 2.0)[::-1]
        low = high = int(np.count_nonzero(values > 1.0 + NOISE))
        if theta is not None:
            square = root @ (image.T @ (image / diagonal)) @ root.T - T @ T
            lifted = np.linalg.eigvalsh(self._sign * T + square / (1.0 - theta))
            high = int(np.count_nonzero(lifted > 1.0 + NOISE))
        return low, max(low, high), values


def _rough_end(bound: BoundBetheHessian, sign: int) -> float:
    """Return the largest eigenvalue of ``sign * N`` to two digits, or a bound if Lanczos fails."""
    try:
        return rough_top(bound, sign=sign, tolerance=_ROUGH_END)
    except PartialEigenpairsError:
        return float(np.max(bound.coupling_matrix().sum(axis=1) / bound.diagonal))


class _Pairs(NamedTuple):
    """Ritz values of ``sign * N``, falling, Ritz vectors, and the lengths of their residuals."""

    values: Floats
    vectors: ThinBlock
    residuals: Floats


@dataclass(frozen=True, eq=False)
class _Filter:
    """A Chebyshev filter on the complement of deflated vectors, for values above 1 - gap."""

    operator: ThinBlocks
    deflated: list[Deflated]
    sign: int
    gap: float

    @property
    def theta(self) -> float:
        """The value that a verification bounds the eigenvalues by."""
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
        """Degree at which an eigenvector at theta outgrows the bulk, whose squared length is n."""
        enough = math.sqrt(2.0 * self.operator.n) / _SMALL_PART
        return math.ceil(math.log(2.0 * enough) / math.log(self._growth))

    def verified(self, columns: int, rng: np.random.Generator) -> tuple[ThinBlock, bool]:
        """Filter random columns, and tell whether they have grown as if by an eigenvalue of theta.

        An eigenvector has a part of at least ``_SMALL_PART`` in one of the columns, unless with
        probability ``_MISSED``, and T_q multiplies that by at least T_q(theta).
        """
        recursion = self._filtered(self.operator.normal_block(columns, rng), self._degree)
        squares, _ = self.operator.products_by_column(recursion.now, recursion.now)
        reached = _SMALL_PART * 0.5 * self._growth**recursion.q
        return recursion.now, bool(np.any(squares >= reached * reached))

    def _filtered(self, X: ThinBlock, degree: int) -> Recursion:
        """Filter a block, to a lower degree if its entries grow too large."""
        recursion = Recursion(self.operator, self.deflated, X)
        recursion.advance_to(degree, largest=_LARGEST_ENTRY)
        return recursion

    def ritz_pairs(self, X: ThinBlock) -> tuple[Floats, ThinBlock]:
        """Return Ritz values of ``sign * N``, falling, and Ritz vectors of a block."""
        values, X = ritz_pairs(self.operator, X)
        return self.sign * self.operator.unmapped(values), X

    def refined(self, X: ThinBlock) -> _Pairs:
        """Filter a block again and again, until what grows has converged."""
        values, X = self.ritz_pairs(X)
        for _ in range(_PASSES):
            degree = min(self._degree, steps_between(self.growth(values).max(), _LARGEST_LIFT))
            values, X = self.ritz_pairs(self._filtered(X, degree).now)
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
        """Tell which pairs to deflate: those about 1 and beyond that have converged.

        Above 1 a Ritz value is a lower bound on an eigenvalue, however rough. Below 1 the residual
        must leave no doubt on which side of 1 the eigenvalue is.
        """
        values, residuals = pairs.values, pairs.residuals
        decided = np.square(residuals) < _CONVERGED * self.gap * np.abs(values - 1.0)
        rough = (values > 1.0) & (residuals < _USABLE)
        return np.asarray((values > 1.0 - self.gap) & (decided | rough))
