r"""Thin blocks of float32 columns multiplied by the graph: all that Chebyshev methods need.

The work is done on :math:`P = \Delta^{-1} G` instead of :math:`N = \Delta^{-1/2} G \Delta^{-1/2}`.
Both have the same eigenvalues. P is symmetric in the inner product
:math:`\langle x, y \rangle = \sum_i \Delta_i x_i y_i`, and without weights a product with it reads
no matrix entries but the pattern.
"""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from kgroups._blas import single_threaded
from kgroups._csr import readonly
from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian

__all__ = ["BlockOperator", "ThinBlock", "ThinBlocks", "subtract_products"]

ThinBlock: TypeAlias = npt.NDArray[np.float32]
Value = TypeVar("Value", float, Floats)

_ENTRIES_PER_TASK = 32_768
_ROWS_PER_TASK = 16_384
# With less to do, waiting for another thread takes longer than its help saves.
_FEWEST_TASKS_TO_SHARE = 8
# Products of blocks with more pairs of columns than this are left to BLAS, so many rows at a time.
_MANY_PAIRS, _MANY_ROUGH_PAIRS = 1_024, 256
_ROWS_PER_PRODUCT = 4_096
_NO_ENTRIES = np.zeros(0, dtype=np.float32)


class BlockOperator(Protocol):
    """What Chebyshev methods ask of a graph; a distributed operator may take its place."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def visits(self) -> int:
        """Matrix entries read so far."""

    def matmat(
        self, X: ThinBlock, out: ThinBlock, *, alpha: float = 1.0, beta: float = 0.0
    ) -> None:
        """Set ``out = alpha P X + beta out``."""

    def products(self, X: ThinBlock, Y: ThinBlock, *, rough: bool = False) -> Floats:
        """Return the inner products of all columns of X with all columns of Y.

        Rough ones may be summed in float32.
        """

    def products_by_column(self, X: ThinBlock, Y: ThinBlock) -> Floats:
        """Return those of the columns of X with themselves, and with the same ones of Y."""

    def add_product(self, X: ThinBlock, S: Floats, out: ThinBlock) -> None:
        """Add ``X @ S`` to ``out``."""

    def random_block(self, columns: int, rng: np.random.Generator) -> ThinBlock:
        """Return columns of random signs, of squared length n in the inner product."""


class ThinBlocks:
    """The operator P of a graph on this machine.

    Rows are dealt out in fixed pieces to as many threads as numba would use. A row is summed by
    one thread, and sums over rows are added piece by piece in a fixed order, so that the number
    of threads changes no digit.

    Parameters
    ----------
    bound : BoundBetheHessian
        The Bethe Hessian; its coupling and diagonal are rounded to float32.
    lowest, highest : float
        Eigenvalues from ``lowest`` to ``highest`` are mapped to [-1, 1], where a Chebyshev
        recursion keeps them from growing; by default P is left as it is. With the two exchanged
        it is the eigenvalues below the interval that are mapped above 1.
    threads : int, optional
        How many threads; by default what numba would use.
    """

    def __init__(
        self,
        bound: BoundBetheHessian,
        *,
        lowest: float = -1.0,
        highest: float = 1.0,
        threads: int | None = None,
    ) -> None:
        import numba

        self._indptr, self._indices, data = readonly(bound.coupling)
        self.weight = bound.diagonal.astype(np.float32)
        self.lowest, self.highest = lowest, highest
        stretch = 2.0 / (highest - lowest)
        self._shift = np.float32(1.0 - stretch * highest)
        # Without weights all entries are r, and need not be read.
        unit = data.size == 0 or (data[0] == data[-1] and bool(np.all(data == data[0])))
        factor = float(data[0]) if unit and data.size else 1.0
        self._coupling = _NO_ENTRIES if unit else data.astype(np.float32)
        self._scale = (stretch * factor / bound.diagonal).astype(np.float32)
        self._entry_tasks = _pieces_of(self._indptr)
        self._row_tasks = _even_pieces(self.n, _ROWS_PER_TASK)
        self._product_tasks = _even_pieces(self.n, _ROWS_PER_PRODUCT)
        self._threads = int(numba.get_num_threads()) if threads is None else threads
        self._visits = 0

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.weight.size

    @property
    def visits(self) -> int:
        """Matrix entries read so far."""
        return self._visits

    def mapped(self, value: Value) -> Value:
        """Return where an eigenvalue of P, or an array of them, is mapped to."""
        return 1.0 - 2.0 * (self.highest - value) / (self.highest - self.lowest)

    def unmapped(self, value: Value) -> Value:
        """Return the eigenvalue of P that is mapped to ``value``."""
        return self.highest - 0.5 * (1.0 - value) * (self.highest - self.lowest)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads - 1, thread_name_prefix="kgroups")

    def matmat(
        self, X: ThinBlock, out: ThinBlock, *, alpha: float = 1.0, beta: float = 0.0
    ) -> None:
        """Set ``out = alpha P X + beta out``; X and out must not overlap."""
        from kgroups.spectrum._chebyshev_nb import multiply_rows

        bounds = self._entry_tasks
        first, second = np.float32(alpha), np.float32(beta)

        def piece(task: int) -> None:
            multiply_rows(
                self._indptr,
                self._indices,
                self._coupling,
                self._scale,
                bounds[task],
                bounds[task + 1],
                first,
                second,
                self._shift,
                X,
                out,
            )

        self._deal(piece, len(bounds) - 1)
        self._visits += len(self._indices)

    def products(self, X: ThinBlock, Y: ThinBlock, *, rough: bool = False) -> Floats:
        """Return the inner products of all columns of X with all columns of Y.

        Rough ones are summed in float32 over some rows, and in float64 over these.
        """
        from kgroups.spectrum._chebyshev_nb import weighted_products

        if X.shape[1] * Y.shape[1] > (_MANY_ROUGH_PAIRS if rough else _MANY_PAIRS):
            return self._wide_products(X, Y, np.dtype(np.float32 if rough else np.float64))
        bounds = self._row_tasks
        sums = np.empty((len(bounds) - 1, X.shape[1], Y.shape[1]))

        def piece(task: int) -> None:
            weighted_products(self.weight, X, Y, bounds[task], bounds[task + 1], sums[task])

        self._deal(piece, len(sums))
        return np.asarray(sums.sum(axis=0))

    def _wide_products(self, X: ThinBlock, Y: ThinBlock, kind: np.dtype[Any]) -> Floats:
        bounds = self._product_tasks
        sums = np.empty((len(bounds) - 1, X.shape[1], Y.shape[1]))

        def piece(task: int) -> None:
            rows = slice(bounds[task], bounds[task + 1])
            scaled = self.weight[rows, np.newaxis] * Y[rows].astype(kind, copy=False)
            sums[task] = X[rows].T.astype(kind, copy=False) @ scaled

        # One thread for each product, so that the number of threads changes no digit.
        with single_threaded(1):
            self._deal(piece, len(sums), fewest=2)
        return np.asarray(sums.sum(axis=0))

    def products_by_column(self, X: ThinBlock, Y: ThinBlock) -> Floats:
        """Return those of the columns of X with themselves, and with the same ones of Y."""
        from kgroups.spectrum._chebyshev_nb import products_by_column

        bounds = self._row_tasks
        sums = np.empty((len(bounds) - 1, 2, X.shape[1]))

        def piece(task: int) -> None:
            products_by_column(self.weight, X, Y, bounds[task], bounds[task + 1], sums[task])

        self._deal(piece, len(sums))
        return np.asarray(sums.sum(axis=0))

    def add_product(self, X: ThinBlock, S: Floats, out: ThinBlock) -> None:
        """Add ``X @ S`` to ``out``."""
        from kgroups.spectrum._chebyshev_nb import add_product

        bounds = self._row_tasks
        small = np.ascontiguousarray(S, dtype=np.float32)
        if S.size > _MANY_ROUGH_PAIRS:
            wide = self._product_tasks

            def wide_piece(task: int) -> None:
                rows = slice(wide[task], wide[task + 1])
                out[rows] += X[rows] @ small

            with single_threaded(1):
                self._deal(wide_piece, len(wide) - 1, fewest=2)
            return

        def piece(task: int) -> None:
            add_product(X, small, bounds[task], bounds[task + 1], out)

        self._deal(piece, len(bounds) - 1)

    def normal_block(self, columns: int, rng: np.random.Generator) -> ThinBlock:
        """Return columns whose products with any unit vector are standard normal numbers."""
        block = rng.standard_normal((self.n, columns), dtype=np.float32)
        block /= np.sqrt(self.weight)[:, np.newaxis]
        return block

    def random_block(self, columns: int, rng: np.random.Generator) -> ThinBlock:
        """Return columns of random signs, of squared length n in the inner product."""
        bits = np.frombuffer(rng.bytes((self.n * columns + 7) // 8), dtype=np.uint8)
        signs = np.unpackbits(bits, count=self.n * columns).reshape(self.n, columns)
        size = 1.0 / np.sqrt(self.weight)[:, np.newaxis]
        return np.asarray((2.0 * size) * signs - size, dtype=np.float32)

    def _deal(
        self, piece: Callable[[int], None], tasks: int, *, fewest: int = _FEWEST_TASKS_TO_SHARE
    ) -> None:
        """Do all tasks, each once, on whatever thread comes for it first."""
        helpers = min(self._threads, tasks) - 1
        if helpers < 1 or tasks < fewest:
            for task in range(tasks):
                piece(task)
            return
        ticket = itertools.count()

        def work() -> None:
            while (task := next(ticket)) < tasks:
                piece(task)

        others = [self._pool.submit(work) for _ in range(helpers)]
        work()
        for other in others:
            other.result()


def subtract_products(operator: BlockOperator, V: ThinBlock, X: ThinBlock) -> None:
    """Take out of X what lies along the columns of V, which are orthonormal for the operator."""
    operator.add_product(V, -operator.products(V, X, rough=True), X)


def _pieces_of(indptr: npt.NDArray[np.integer]) -> list[int]:
    """Return bounds of row ranges with about equally many entries."""
    n, entries = len(indptr) - 1, int(indptr[-1])
    pieces = max(1, (entries + n) // _ENTRIES_PER_TASK)
    work = indptr + np.arange(n + 1)
    bounds = np.searchsorted(work, np.linspace(0, entries + n, pieces + 1)[1:-1])
    return [0, *bounds.tolist(), n]


def _even_pieces(n: int, rows: int) -> list[int]:
    return [*range(0, n, rows), n]
