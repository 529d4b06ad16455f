r"""The Chebyshev filter: blocks of vectors multiplied by the graph, recursion, Rayleigh-Ritz.

The work is done on :math:`P = \Delta^{-1} G` instead of :math:`N = \Delta^{-1/2} G \Delta^{-1/2}`.
Both have the same eigenvalues. P is symmetric in the inner product
:math:`\langle x, y \rangle = \sum_i \Delta_i x_i y_i`, and without weights a product with it reads
only the pattern of the matrix.

:math:`T_q` is at most 1 on the bulk of the spectrum, [-1, 1], and grows as :math:`s^q / 2` on an
eigenvalue :math:`(s + 1/s) / 2` above it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from kgroups._blas import single_threaded
from kgroups._csr import writable
from kgroups._parallel import Threads
from kgroups._progress import tell_share
from kgroups._types import Floats
from kgroups.spectrum import _chebyshev_nb as kernels
from kgroups.spectrum.operators import BoundOperator

ThinBlock: TypeAlias = npt.NDArray[np.float32]
Value = TypeVar("Value", float, Floats)
# What a thread does with a range of rows; called with the number of the task, start and stop.
_Task: TypeAlias = Callable[[int, int, int], None]

BLAS_PAIRS = 1_024
"""Products of blocks with more pairs of columns than this are computed by BLAS."""

# The same where sums in float32 suffice, and the rows of one such product.
_BLAS_PAIRS_ROUGH = 256
_ROWS_PER_PRODUCT = 4_096
_NO_ENTRIES = np.zeros(0, dtype=np.float32)
# Numbers in a cache line.
_LINE = 16
_ONE_THREAD = Threads(1)
# The Perron vector is known once a vector of ones has grown by this factor, or after this number of
# steps.
_PERRON_LIFT = 100.0
_MOST_PERRON_STEPS = 24
# Ones that grow less in a step have no part along it that stands out.
_SLOWEST_GROWTH = 1.1
# Share of other vectors in the Perron vector that is found. Removing it from a column of length 1
# changes the rest of the column by up to this.
_PERRON_ERROR = 0.03
# Largest residual of the Perron pair, in units of its eigenvalue. With a larger one the ones still
# grow along another vector.
_PERRON_RESIDUAL = 0.01
# Rounding brings a deflated vector back; it may grow by this factor before it is removed again.
_LARGEST_REGROWTH = 200.0
# Steps after which the Perron vector, which grows fastest, is removed again.
_PERRON_STEPS = 3
# Steps between two checks of how large the entries of a block are.
_STEPS_BETWEEN_CHECKS = 4
# Directions smaller than this in a block of unit columns are rounding errors of float32.
_SMALLEST_DIRECTION = 1e-5


class MappedOperator(ABC):
    """An operator P on thin blocks of float32 columns, in the inner product of its ``weight``.

    Eigenvalues from ``lowest`` to ``highest`` are mapped to [-1, 1], where a Chebyshev recursion
    does not amplify them; by default P is left as it is. With the two exchanged the eigenvalues
    below the interval are mapped above 1.

    Rows are divided into fixed ranges, of about ``rows_per_task`` rows in products of blocks. They
    are shared among one thread per core, unless there are fewer than ``fewest_shared_tasks``: then
    waiting for a thread would take longer than it saves. Sums over rows are added in a fixed order,
    so that the result does not depend on the number of threads.
    """

    def __init__(
        self,
        weight: ThinBlock,
        *,
        lowest: float = -1.0,
        highest: float = 1.0,
        threads: int | None = None,
        rows_per_task: int = 16_384,
        fewest_shared_tasks: int = 8,
    ) -> None:
        self.weight, self.lowest, self.highest = weight, lowest, highest
        self._stretch = 2.0 / (highest - lowest)
        self._shift = 1.0 - self._stretch * highest
        rows = weight.size
        self._row_bounds = [*range(0, rows, rows_per_task), rows]
        self._product_bounds = [*range(0, rows, _ROWS_PER_PRODUCT), rows]
        self._threads = Threads(threads)
        self._fewest_shared_tasks = fewest_shared_tasks
        self.visits = 0
        """Matrix entries read so far."""

    @abstractmethod
    def matmat(
        self, X: ThinBlock, out: ThinBlock, *, alpha: float = 1.0, beta: float = 0.0
    ) -> None:
        """Set ``out = alpha P X + beta out``; X and out must not overlap."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.weight.size

    def mapped(self, value: Value) -> Value:
        """Return where an eigenvalue of P, or an array of them, is mapped to."""
        return 1.0 - 2.0 * (self.highest - value) / (self.highest - self.lowest)

    def unmapped(self, value: Value) -> Value:
        """Return the eigenvalue of P that is mapped to ``value``."""
        return self.highest - 0.5 * (1.0 - value) * (self.highest - self.lowest)

    def products(self, X: ThinBlock, Y: ThinBlock, *, rough: bool = False) -> Floats:
        """Return the inner products of all columns of X with all columns of Y.

        Rough ones are summed in float32 within a range of rows, and in float64 over the ranges.
        """
        wide = X.shape[1] * Y.shape[1] > (_BLAS_PAIRS_ROUGH if rough else BLAS_PAIRS)
        bounds = self._product_bounds if wide else self._row_bounds
        sums = np.zeros((len(bounds) - 1, X.shape[1], Y.shape[1]))
        kind: np.dtype[Any] = np.dtype(np.float32 if rough else np.float64)

        def task(t: int, start: int, stop: int) -> None:
            kernels.weighted_products(self.weight, X, Y, start, stop, sums[t])

        def wide_task(t: int, start: int, stop: int) -> None:
            rows = slice(start, stop)
            scaled = self.weight[rows, np.newaxis] * Y[rows].astype(kind, copy=False)
            sums[t] = X[rows].T.astype(kind, copy=False) @ scaled

        if wide:
            self._share_blas(wide_task)
        else:
            self._share(task, bounds)
        return np.asarray(sums.sum(axis=0))

    def products_by_column(self, X: ThinBlock, Y: ThinBlock) -> Floats:
        """Return the products of the columns of X with themselves, and with those of Y."""
        sums = np.zeros((len(self._row_bounds) - 1, 2, X.shape[1]))

        def task(t: int, start: int, stop: int) -> None:
            kernels.products_by_column(self.weight, X, Y, start, stop, sums[t])

        self._share(task, self._row_bounds)
        return np.asarray(sums.sum(axis=0))

    def add_product(self, X: ThinBlock, S: Floats, out: ThinBlock) -> None:
        """Add ``X @ S`` to ``out``."""
        small = np.ascontiguousarray(S, dtype=np.float32)

        def task(_: int, start: int, stop: int) -> None:
            kernels.add_product(X, small, start, stop, out)

        def wide_task(_: int, start: int, stop: int) -> None:
            out[start:stop] += X[start:stop] @ small

        if S.size > _BLAS_PAIRS_ROUGH:
            self._share_blas(wide_task)
        else:
            self._share(task, self._row_bounds)

    def normal_block(self, columns: int, rng: np.random.Generator) -> ThinBlock:
        """Return columns whose products with any unit vector are standard normal numbers."""
        block = rng.standard_normal((self.n, columns), dtype=np.float32)
        block /= np.sqrt(self.weight)[:, np.newaxis]
        return block

    def random_block(self, columns: int, rng: np.random.Generator) -> ThinBlock:
        """Return columns of random signs, of squared length n in the inner product."""
        # Of a component of a stored graph, rows are those of all nodes.
        rows = self.weight.size
        bits = np.frombuffer(rng.bytes((rows * columns + 7) // 8), dtype=np.uint8)
        signs = np.unpackbits(bits, count=rows * columns).reshape(rows, columns)
        size = 1.0 / np.sqrt(self.weight)[:, np.newaxis]
        return np.asarray((2.0 * size) * signs - size, dtype=np.float32)

    def _share_blas(self, task: _Task) -> None:
        # BLAS has one thread per product, so that the result does not depend on their number.
        with single_threaded(1):
            self._share(task, self._product_bounds, fewest=2)

    def _share(self, task: _Task, bounds: list[int], *, fewest: int | None = None) -> None:
        """Run the task on every range of rows, each on the first thread that is free."""
        tasks = len(bounds) - 1
        threads = self._threads if tasks >= (fewest or self._fewest_shared_tasks) else _ONE_THREAD
        threads.run(lambda t: task(t, bounds[t], bounds[t + 1]), tasks)


class BlockOperator(MappedOperator):
    """The operator P of a graph in memory.

    Rows are divided into ranges of about ``entries_per_task`` entries in products with the graph. A
    row is summed by one thread. The other parameters are those of :class:`MappedOperator`.
    """

    def __init__(
        self, hessian: BoundOperator, *, entries_per_task: int = 32_768, **options: Any
    ) -> None:
        super().__init__(hessian.scale.astype(np.float32), **options)
        data = hessian.coupling.data
        self._indptr, self._indices = map(writable, hessian.coupling[:2])
        # Without weights all entries are r, and need not be read.
        unit = data.size == 0 or data.strides == (0,) or bool(np.all(data == data[0]))
        factor = float(data[0]) if unit and data.size else 1.0
        self._coupling = _NO_ENTRIES if unit else data.astype(np.float32)
        self._scale = (self._stretch * factor / hessian.scale).astype(np.float32)
        self._entry_bounds = _ranges_of_entries(self._indptr, entries_per_task)

    def matmat(
        self, X: ThinBlock, out: ThinBlock, *, alpha: float = 1.0, beta: float = 0.0
    ) -> None:
        """Set ``out = alpha P X + beta out``; X and out must not overlap."""
        matrix = self._indptr, self._indices, self._coupling, self._scale
        factors = float(alpha), float(beta), self._shift
        totals = _aligned_rows(len(self._entry_bounds) - 1, X.shape[1])

        def task(t: int, start: int, stop: int) -> None:
            kernels.multiply_rows(*matrix, start, stop, *factors, X, 0, out, totals[t])

        self._share(task, self._entry_bounds)
        self.visits += len(self._indices)


def _aligned_rows(rows: int, columns: int) -> ThinBlock:
    """Return rows aligned to cache lines; sums across two lines take up to three times as long."""
    width = -(-columns // _LINE) * _LINE
    room = np.empty((rows + 1) * width, dtype=np.float32)
    first = -room.ctypes.data // room.itemsize % _LINE
    return room[first : first + rows * width].reshape(rows, width)


def _ranges_of_entries(indptr: npt.NDArray[np.integer], entries_per_task: int) -> list[int]:
    """Return bounds of row ranges with about equally many entries."""
    n, entries = len(indptr) - 1, int(indptr[-1])
    ranges = max(1, (entries + n) // entries_per_task)
    work = indptr + np.arange(n + 1)
    bounds = np.searchsorted(work, np.linspace(0, entries + n, ranges + 1)[1:-1])
    return [0, *bounds.tolist(), n]


def subtract_products(operator: MappedOperator, V: ThinBlock, X: ThinBlock) -> None:
    """Subtract from X its projection on the columns of V, which are orthonormal."""
    operator.add_product(V, -operator.products(V, X, rough=True), X)


def growth_of(value: float) -> float:
    """Return s from an eigenvalue (s + 1/s) / 2; 1 inside [-1, 1]."""
    size = max(1.0, abs(value))
    return size + math.sqrt(size * size - 1.0)


def value_of(growth: float) -> float:
    """Return the eigenvalue (s + 1/s) / 2 whose growth is s."""
    return 0.5 * (growth + 1.0 / growth)


def steps_between(growth: float, factor: float = _LARGEST_REGROWTH) -> int:
    """Return the largest number of steps in which this growth stays within ``factor``."""
    return max(1, int(math.log(factor) / math.log(max(growth, 1.0 + 1e-9))))


@dataclass(frozen=True, eq=False)
class Perron:
    """The largest eigenvalue of P and its eigenvector, one column of unit length."""

    value: float
    vector: ThinBlock

    @property
    def deflated(self) -> "Deflated":
        """The vector as one for a recursion to deflate."""
        return Deflated(self.vector, _PERRON_STEPS)


@dataclass(frozen=True, eq=False)
class Deflated:
    """Orthonormal vectors that a recursion subtracts from its blocks after ``every`` steps."""

    vectors: ThinBlock
    every: int


class Recursion:
    """The blocks T_q X and T_{q-1} X for increasing q, without their part along deflated vectors.

    The memory of the block X that it starts from is used for the work.
    """

    def __init__(
        self, operator: MappedOperator, deflated: Sequence[Deflated], X: ThinBlock
    ) -> None:
        self._operator = operator
        self._deflated = [held for held in deflated if held.vectors.shape[1]]
        for held in self._deflated:
            subtract_products(operator, held.vectors, X)
        self.q = 1
        self.before, self.now = X, np.empty_like(X)
        operator.matmat(X, self.now)

    def advance(self) -> None:
        """Increase q by 1."""
        self._operator.matmat(self.now, self.before, alpha=2.0, beta=-1.0)
        self.before, self.now = self.now, self.before
        self.q += 1
        self._subtract([held for held in self._deflated if self.q % held.every == 0])

    def advance_to(self, degree: int, *, largest: float = math.inf) -> None:
        """Increase q to ``degree``, or until an entry exceeds ``largest``, and deflate."""
        while self.q < degree:
            self.advance()
            checked = self.q % _STEPS_BETWEEN_CHECKS == 0 and largest < math.inf
            if checked and float(np.abs(self.now).max()) > largest:
                break
        self._subtract(self._deflated)

    def deflate(self, held: Deflated) -> None:
        """Subtract vectors from the blocks, now and in later steps."""
        self._deflated.append(held)
        self._subtract([held])

    def products(self) -> Floats:
        """Return the products by column of T_{q-1} X with itself and with T_q X."""
        return self._operator.products_by_column(self.before, self.now)

    def _subtract(self, deflated: Sequence[Deflated]) -> None:
        for held in deflated:
            subtract_products(self._operator, held.vectors, self.before)
            subtract_products(self._operator, held.vectors, self.now)


class Started(NamedTuple):
    """A recursion that has found the Perron pair on its way.

    Attributes
    ----------
    recursion : Recursion
        It deflates the Perron vector. The last column of its blocks is 0.
    perron : Perron
    products : list of ndarray
        ``recursion.products()`` of each degree so far and of all columns but the last, without
        the part along the Perron vector.
    """

    recursion: Recursion
    perron: Perron
    products: list[Floats]


def start_with_perron(operator: MappedOperator, X: ThinBlock, *, last: int) -> Started:
    """Start a recursion on a block whose products with the graph find the Perron pair as well.

    The last of at least two columns is replaced by ones, which grow along the Perron vector. On
    bipartite graphs the eigenvalue of the same size below 0 grows as fast; two consecutive degrees
    tell them apart. Where no eigenvalue exceeds 1, as on a tree, nothing grows, and the pair is a
    mixture. Progress is shown as a share of the degrees up to ``last``.
    """
    X[:, -1] = 1.0
    recursion = Recursion(operator, [], X)
    products = [recursion.products()]
    enough = _PERRON_LIFT**2 * products[0][0, -1]
    while products[-1][0, -1] < enough and recursion.q <= _MOST_PERRON_STEPS:
        recursion.advance()
        products.append(recursion.products())
        tell_share(recursion.q, last)
    perron = _perron_pair(operator, recursion, products)
    for block in (recursion.before, recursion.now):
        block[:, -1] = 0.0
    # A degree multiplies the part along the vector by its Chebyshev polynomial; a value of 1 or
    # less leaves it as small as it was.
    part = np.zeros(X.shape[1])
    sizes = np.polynomial.chebyshev.chebvander(perron.value, recursion.q)[0]
    if perron.value > 1.0:
        part = np.square(operator.products(perron.vector, recursion.now)[0] / sizes[-1])
    recursion.deflate(perron.deflated)
    for q, both in enumerate(products):
        rest = both - part * sizes[q] * sizes[q : q + 2, np.newaxis]
        products[q] = rest[:, :-1]
    return Started(recursion, perron, products)


def _perron_pair(operator: MappedOperator, recursion: Recursion, products: list[Floats]) -> Perron:
    """Return the pair along which the last column of a recursion, initially ones, has grown.

    The recursion is continued on this column alone until the pair is precise enough.
    """
    x, y = (np.ascontiguousarray(block[:, -1:]) for block in (recursion.now, recursion.before))
    image_x, image_y = np.empty_like(x), np.empty_like(x)
    operator.matmat(x, image_x)
    least = _steps_alone(np.sqrt([both[0, -1] for both in products]))
    for step in range(1, _MOST_PERRON_STEPS + 1):
        # The next degree is 2 N x - y.
        y -= 2.0 * image_x
        np.negative(y, out=y)
        x, y, image_x, image_y = y, x, image_y, image_x
        operator.matmat(x, image_x)
        (xx,), (xy,) = operator.products_by_column(x, y)
        (yy,), _ = operator.products_by_column(y, y)
        # N^2 has the same value on the two vectors of a bipartite graph, so this sum of two degrees
        # has the first only. Where nothing grows, degrees differ in sign.
        ratio = np.float32(math.copysign(math.sqrt(xx / yy), xy))
        vector: ThinBlock = x + ratio * y
        image: ThinBlock = image_x + ratio * image_y
        (vv,), (product,) = operator.products_by_column(vector, image)
        (ii,), _ = operator.products_by_column(image, image)
        value = float(product / vv)
        residual = math.sqrt(max(0.0, float(ii / vv) - value * value))
        if step >= least and residual <= _PERRON_RESIDUAL * value:
            break
    image /= np.float32(math.sqrt(ii))
    return Perron(value, image)


def _steps_alone(lengths: Floats) -> int:
    """Return how many steps beyond those of the block make a column of ones the Perron vector.

    ``lengths`` are those of the column from degree 0 on. At the degree of the block it still has
    parts along other vectors, and removing it would change those in the block.
    """
    if not (lengths[-1] > _SLOWEST_GROWTH * lengths[-2] and lengths[-1] > lengths[0]):
        return 0
    growth = float(lengths[-1] / lengths[-2])
    # Logarithms of the growth of the Perron part relative to that of the whole column, and of the
    # size of the other parts relative to the Perron part.
    ahead = (len(lengths) - 1) * math.log(growth) - math.log(2.0 * lengths[-1] / lengths[0])
    rest = ahead + 0.5 * math.log(max(1e-9, -math.expm1(-2.0 * ahead)))
    return math.ceil((rest - math.log(_PERRON_ERROR * value_of(growth))) / math.log(growth))


def ritz_pairs(operator: MappedOperator, X: ThinBlock) -> tuple[Floats, ThinBlock]:
    """Return Ritz values, in decreasing order, and Ritz vectors of the span of the columns."""
    lengths, _ = operator.products_by_column(X, X)
    X /= np.sqrt(np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    image = np.empty_like(X)
    operator.matmat(X, image)
    gram, crossed = operator.products(X, X), operator.products(X, image)
    with single_threaded(X.shape[1]):
        sizes, axes = np.linalg.eigh((gram + gram.T) / 2.0)
        kept = sizes > _SMALLEST_DIRECTION * sizes[-1]
        whitened = axes[:, kept] / np.sqrt(sizes[kept])
        values, rotation = np.linalg.eigh(whitened.T @ ((crossed + crossed.T) / 2.0) @ whitened)
    vectors = np.zeros((X.shape[0], values.size), dtype=np.float32)
    operator.add_product(X, whitened @ rotation[:, ::-1], vectors)
    return values[::-1], vectors
