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

import numpy as np

from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.chebyshev import (
    Deflated,
    Recursion,
    filtered_block,
    growth_of,
    perron_of,
    ritz_pairs,
    steps_between,
)
from kgroups.spectrum.chebyshev_operator import ThinBlock, ThinBlocks
from kgroups.spectrum.filtered import columns_for, leading_pairs
from kgroups.spectrum.lanczos import lanczos_pairs, start_vector
from kgroups.spectrum.moments import moments

__all__ = ["NOISE", "FilteredCount", "count_by_filter"]

NOISE = 1e-9
"""Eigenvalues this close to 1 are not beyond it."""

# Columns of the largest block: this many, or more on graphs so small that the product of columns
# and matrix entries stays below the second number.
_COLUMNS = 128
_COLUMNS_TIMES_ENTRIES = 4e8
# Random columns of a verification, and the probability that an eigenvector hides from all of them.
_VERIFYING = 8
_MISSED = 1e-9
# With that probability all these standard normal numbers are smaller than this.
_SMALL_PART = math.sqrt(math.pi / 2.0) * _MISSED ** (1.0 / _VERIFYING)
_ROUNDS = 12
_PASSES = 3
# Eigenvalues closer to 1 than this are left undecided, unless their vectors have converged.
_FINEST = 1e-4
# The bulk of a random graph ends about n^(-2/3) from 1; the first verification looks this far.
_BULK_EDGES = 4.0
# A column that has grown by this much ends a verification: float32 has little room left.
_LARGEST_GROWTH = 1e8
_STEPS_BETWEEN_LOOKS = 8
# In one pass a vector may outgrow the others by this much; float32 would lose them.
_LARGEST_LIFT = 1e4
# A vector has converged if its residual moves its value by at most this part of the way to 1.
_CONVERGED = 0.1
# Room beyond the eigenvalues seen at the other end of the spectrum.
_ROOM = 0.02
# Residuals of vectors found by the first, rough filter.
_ROUGH = 1e-3
_NEXT_VALUE = 1e-3
# Deflated vectors that grow faster than this are subtracted more often than the others.
_FAST_GROWTH = 2.0


@dataclass(frozen=True, eq=False)
class FilteredCount:
    """Eigenvalues beyond 1 that a filter found, and bounds on their number.

    Attributes
    ----------
    k : int
        The number of eigenvalues beyond 1, or the best estimate.
    k_low, k_high : int
        Bounds on the number; equal where the count is exact, but for a probability of 1e-9 that the
        random vectors missed one. Else the upper one is an estimate, and so is the lower one where
        ``vectors`` is empty.
    values : ndarray
        The eigenvalues found, falling: those beyond 1, and some that are not. Empty if the count is
        an estimate from the moments.
    vectors : ndarray of float32, shape (n, found)
        Vectors of those beyond 1.
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
        An estimate from the moments where there are too many eigenvalues to find them all.
    """
    most = max(_COLUMNS, int(_COLUMNS_TIMES_ENTRIES / max(1, bound.nnz)))
    if sign < 0:
        # All eigenvalues above -1 are kept from growing, so that nothing has to be deflated.
        return _Search(bound, sign, perron_of(ThinBlocks(bound)).value, most).run(
            with_next=with_next
        )
    found = moments(bound)
    low, high = math.floor(found.k_low), math.ceil(found.k_high)
    if columns_for(found.k) > most:
        nothing = np.zeros((bound.n, 0), dtype=np.float32)
        return FilteredCount(round(found.k), low, max(high, low + 1), np.zeros(0), nothing)
    leading = leading_pairs(found, most=most, edge=1.0, start=start)
    search = _Search(bound, sign, found.lowest, most)
    search.improve(leading.values, leading.vectors)
    if not leading.complete:
        return search.unfinished(round(found.k), high)
    return search.run(with_next=with_next)


class _Search:
    """Vectors of eigenvalues of ``sign * N`` about 1 and beyond, and the rounds that find them.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator.
    sign : {1, -1}
        Which end of the spectrum.
    other_end : float
        A bound on the eigenvalues of N at the other end.
    most : int
        How many vectors may be found.
    """

    def __init__(self, bound: BoundBetheHessian, sign: int, other_end: float, most: int) -> None:
        self._bound, self._sign, self._other_end, self._most = bound, sign, other_end, most
        self._values = np.zeros(0)
        self._vectors = np.zeros((bound.n, 0), dtype=np.float32)

    def add(self, values: Floats, vectors: ThinBlock) -> None:
        """Take in Ritz pairs; vectors are orthonormal to those that are here."""
        values = np.concatenate([self._values, values])
        order = np.argsort(-values, kind="stable")
        self._values = values[order]
        self._vectors = np.concatenate([self._vectors, vectors], axis=1)[:, order]

    def improve(self, values: Floats, vectors: ThinBlock) -> None:
        """Take in rough Ritz pairs, filtered until they are nearly orthogonal to what is left.

        Those that grow fastest come first and are deflated for the others.
        """
        filtering = self._filter(self._first_gap)
        fast = filtering.growth(values) > _FAST_GROWTH
        for some in (fast, ~fast):
            X = np.ascontiguousarray(vectors[:, some])
            filtering = self._filter(self._first_gap)
            if not some.any():
                continue
            for _ in range(_PASSES):
                found, X, residuals = filtering.refined(X, passes=1)
                if residuals.max() < _ROUGH:
                    break
            self.add(found, X)

    @property
    def _first_gap(self) -> float:
        """How far below 1 the first verification looks."""
        return max(2.0 * _FINEST, _BULK_EDGES * math.pow(self._bound.n, -2.0 / 3.0))

    def run(self, *, with_next: bool) -> FilteredCount:
        """Verify that nothing is left beyond 1, and find what is, until the bounds meet."""
        rng = np.random.default_rng(2)
        gap, columns, near = self._first_gap, _VERIFYING, 0
        for _ in range(_ROUNDS):
            filtering = self._filter(gap)
            X, grown = filtering.verified(columns, rng)
            if not grown:
                low, high, values = self._bounds(1.0 - 0.5 * gap)
                if with_next and values.size == low:
                    values = np.append(values, self._largest_left())
                return FilteredCount(low, low, high, values, self._beyond)
            values, X, residuals = filtering.refined(X, passes=_PASSES)
            if values[-1] < self._sign * self._other_end:
                # The other end has grown, and hidden whatever there may be at this one.
                self._other_end = self._sign * (1.0 + _ROOM) * float(values[-1])
                continue
            settled = np.square(residuals) < _CONVERGED * gap * np.abs(values - 1.0)
            taken = (values > 1.0) | (settled & (values > 1.0 - gap))
            self.add(values[taken], np.ascontiguousarray(X[:, taken]))
            if self._values.size > self._most:
                break
            if 2 * np.count_nonzero(taken) > columns:
                columns = min(2 * columns, self._most)
            left = 1.0 - float(values[~taken].max(initial=0.0))
            near = int(np.count_nonzero(values[~taken] > 1.0 - gap))
            if left < gap or not taken.any():
                gap = max(_FINEST, min(left, 0.5 * gap))
        low = self._bounds(None)[0]
        return self.unfinished(low, low + near)

    def unfinished(self, k: int, high: int) -> FilteredCount:
        """Return a count that is not verified."""
        low, _, values = self._bounds(None)
        return FilteredCount(max(k, low), low, max(high, low + 1), values, self._beyond)

    @property
    def _beyond(self) -> ThinBlock:
        return self._vectors[:, self._values > 1.0]

    def _filter(self, gap: float) -> "_Filter":
        """Return the filter on the complement under which eigenvalues up to 1 - gap do not grow."""
        operator = ThinBlocks(self._bound, lowest=self._other_end, highest=self._sign * (1.0 - gap))
        filtering = _Filter(operator, [], self._sign, 1.0 - 0.5 * gap)
        growth = filtering.growth(self._values)
        for some in (growth > _FAST_GROWTH, growth <= _FAST_GROWTH):
            if some.any():
                steps = steps_between(float(growth[some].max()))
                vectors = np.ascontiguousarray(self._vectors[:, some])
                filtering.deflated.append(Deflated(vectors, steps))
        return filtering

    def _largest_left(self) -> float:
        """Return the largest eigenvalue on the complement, to about three digits."""
        from scipy.sparse.linalg import LinearOperator

        n, scale = self._bound.n, np.sqrt(self._bound.diagonal)
        V = np.linalg.qr(scale[:, np.newaxis] * self._vectors)[0]
        matrix = self._bound.normalized_matrix() * float(self._sign)

        def projected(x: Floats) -> Floats:
            return np.asarray(x - V @ (V.T @ x))

        rest = LinearOperator(
            (n, n), matvec=lambda x: projected(matrix @ projected(x.reshape(n))), dtype=float
        )
        start = projected(start_vector(self._bound))
        return float(lanczos_pairs(rest, 1, start, tolerance=_NEXT_VALUE)[0][0])

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


@dataclass(frozen=True, eq=False)
class _Filter:
    """A Chebyshev filter on the complement of known vectors, and the theta that it verifies."""

    operator: ThinBlocks
    deflated: list[Deflated]
    sign: int
    theta: float

    def growth(self, values: Floats) -> Floats:
        """Return by how much eigenvalues of ``sign * N`` grow in a step."""
        mapped = [growth_of(self.operator.mapped(self.sign * value)) for value in values.tolist()]
        return np.array(mapped)

    @property
    def _growth(self) -> float:
        return growth_of(self.operator.mapped(self.sign * self.theta))

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
        operator = self.operator
        recursion = Recursion(operator, self.deflated, operator.normal_block(columns, rng))
        largest, degree = 0.0, self._degree
        while recursion.q < degree and largest < _LARGEST_GROWTH:
            recursion.advance()
            if recursion.q % _STEPS_BETWEEN_LOOKS == 0:
                largest = float(np.abs(recursion.now).max())
        recursion.deflate()
        squares, _ = operator.products_by_column(recursion.now, recursion.now)
        reached = _SMALL_PART * 0.5 * self._growth**recursion.q
        return recursion.now, bool(np.any(squares >= reached * reached))

    def refined(self, X: ThinBlock, *, passes: int) -> tuple[Floats, ThinBlock, Floats]:
        """Return Ritz values of ``sign * N``, falling, vectors and residuals of a block."""
        operator = self.operator
        values, X = ritz_pairs(operator, X)
        for _ in range(passes):
            degree = min(self._degree, steps_between(growth_of(float(values[0])), _LARGEST_LIFT))
            values, X = ritz_pairs(operator, filtered_block(operator, self.deflated, X, degree))
        image = np.empty_like(X)
        operator.matmat(X, image)
        image -= X * values.astype(np.float32)
        squares, _ = operator.products_by_column(image, image)
        scale = 0.5 * abs(operator.highest - operator.lowest)
        return self.sign * operator.unmapped(values), X, scale * np.sqrt(squares)
