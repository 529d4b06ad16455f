"""The few eigenvectors of N_r beyond 1, by Chebyshev-filtered subspace iteration.

A random block is filtered by a Chebyshev polynomial, which lifts what is beyond 1 out of the bulk;
its Ritz values never exceed eigenvalues, so those beyond 1 are a lower bound on their number.
The Ritz vectors are filtered again until their number beyond 1 has settled.
"""

import math
from dataclasses import dataclass

import numpy as np

from kgroups._types import Floats
from kgroups.spectrum.chebyshev import Recursion, growth_of, ritz_pairs, value_of
from kgroups.spectrum.chebyshev_operator import ThinBlock, subtract_products
from kgroups.spectrum.moments import Moments

__all__ = ["Leading", "columns_for", "edge_of_noise", "leading_pairs"]

_FAINTEST_GROWTH = 1.15
_LIFT = 100.0
_LARGEST_LIFT = 1e4
_FEWEST_STEPS, _MOST_STEPS = 12, 40
_SPARE_PART, _SPARE = 0.4, 4
_PASSES = 12
_SETTLED = 0.01
# The bulk of a filtered block has Ritz values near 0, what rises to an eigenvalue more than this.
_RISING = 0.5
_NEAR = 0.9


def edge_of_noise(n: int) -> float:
    """Return what an eigenvalue of N_r must exceed to be none of a random graph's.

    The largest eigenvalue of the bulk strays about 1 by a multiple of n^(-2/3).
    """
    return 1.0 + math.pow(n, -2.0 / 3.0)


@dataclass(frozen=True, eq=False)
class Leading:
    """Leading eigenpairs of P, the Perron pair first.

    Attributes
    ----------
    values : ndarray of shape (found,)
        Ritz values, falling: those beyond the edge of noise, or as many as were asked for.
    vectors : ndarray of float32, shape (n, found)
        Their vectors, of unit length for the operator. A row times the square root of Delta is
        a row of eigenvectors of N_r; rows of length 1 are the same for both.
    complete : bool
        False if the search ended at its limits, before the number of eigenvalues beyond the edge,
        or the values of those asked for, had settled.
    """

    values: Floats
    vectors: ThinBlock
    complete: bool

    @property
    def k(self) -> int:
        """Number of pairs."""
        return self.values.size


def leading_pairs(
    found: Moments,
    *,
    count: int | None = None,
    most: int = 160,
    edge: float | None = None,
) -> Leading:
    """Find the eigenpairs that communities make, or the ``count`` leading ones.

    Parameters
    ----------
    found : Moments
        The moments of the graph. Their estimates choose the size of the block and the degree of
        the polynomial; their block is where the search starts.
    count : int, optional
        How many pairs; by default all beyond the edge of noise.
    most : int
        Columns beyond which the search gives up, where ``count`` is not given.
    edge : float, optional
        The eigenvalue beyond which pairs are wanted; by default the edge of noise.

    Returns
    -------
    Leading
    """
    operator, n = found.operator, found.operator.n
    edge = operator.mapped(edge_of_noise(n) if edge is None else edge)
    growth = max(_FAINTEST_GROWTH, growth_of(operator.mapped(value_of(found.s))))
    rng = np.random.default_rng(1)
    expected = found.k if count is None else float(count)
    most = most if count is None else max(most, columns_for(count))
    columns = min(n - 1, most, columns_for(expected))
    block = found.block.copy()
    values, block = ritz_pairs(operator, _wider(found, block, columns, growth, rng))
    beyond, settled = _beyond(values, edge, count), False
    for _ in range(_PASSES):
        rising = max(beyond, int(np.count_nonzero(values > _RISING)))
        crowded = rising + 2 > block.shape[1]
        if crowded and count is None and block.shape[1] >= most:
            break
        if crowded and block.shape[1] < min(most, n - 1):
            columns = min(n - 1, most, 2 * block.shape[1])
            block = _wider(found, block, columns, growth, rng)
        else:
            block = np.ascontiguousarray(block[:, : _rounded_up(rising + _SPARE)])
        top = growth_of(float(values[0])) if values.size else growth
        steps = min(_steps(n, columns, growth) // 2, _most_steps(top))
        last = values
        values, block = ritz_pairs(operator, _filtered(found, block, steps))
        before, beyond = beyond, _beyond(values, edge, count)
        if count is None:
            following = slice(beyond, beyond + 1)
            near = beyond < values.size and values[beyond] > _NEAR
            rises = near and _largest_rise(values[following], last[following]) > _SETTLED / 4.0
            settled = beyond < values.size and beyond in (before, rising) and not rises
        else:
            met = before == beyond == count - 1
            settled = met and _largest_rise(values[:beyond], last[:beyond]) < _SETTLED
        if settled:
            break
    return Leading(
        values=np.concatenate([[found.perron.value], operator.unmapped(values[:beyond])]),
        vectors=np.concatenate([found.perron.vector, block[:, :beyond]], axis=1),
        complete=settled,
    )


def _largest_rise(values: Floats, last: Floats) -> float:
    if values.size != last.size:
        return math.inf
    return float(np.max(values - last, initial=0.0))


def columns_for(k: float) -> int:
    """Return how many columns a block needs to find k eigenvectors."""
    return _rounded_up(math.ceil((1.0 + _SPARE_PART) * (k - 1.0)) + _SPARE)


def _rounded_up(columns: int) -> int:
    """Return the next multiple of 8, which the kernels multiply in the same time."""
    return -8 * (-columns // 8)


def _steps(n: int, columns: int, growth: float) -> int:
    """Return the degree at which an eigenvalue of this growth stands out of one random column."""
    degree = math.log(_LIFT * n / columns) / (2.0 * math.log(growth))
    return int(min(max(math.ceil(degree), _FEWEST_STEPS), _MOST_STEPS))


def _most_steps(growth: float) -> int:
    """Return the degree at which an eigenvalue has grown so much that float32 loses the rest."""
    return max(2, int(math.log(_LARGEST_LIFT) / math.log(max(growth, _FAINTEST_GROWTH))))


def _wider(
    found: Moments, block: ThinBlock, columns: int, growth: float, rng: np.random.Generator
) -> ThinBlock:
    """Return the block with as many more random columns, filtered, as make ``columns``."""
    operator = found.operator
    if block.shape[1] >= columns:
        return block
    values, held = ritz_pairs(operator, block)
    top = growth_of(float(values[0])) if values.size else growth
    fresh = operator.random_block(columns - held.shape[1], rng)
    steps = min(_steps(operator.n, columns, growth), _most_steps(top))
    filtered = _filtered(found, fresh, steps)
    # What is held already would fill the new columns to the last digit of float32.
    subtract_products(operator, held, filtered)
    return np.concatenate([held, filtered], axis=1)


def _beyond(values: Floats, edge: float, count: int | None) -> int:
    if count is not None:
        return min(count - 1, values.size)
    return int(np.count_nonzero(values > edge))


def _filtered(found: Moments, block: ThinBlock, steps: int) -> ThinBlock:
    """Return T_steps of the operator times the block, whose memory is used for the work."""
    recursion = Recursion(found.operator, [found.perron.deflated], block)
    recursion.advance_to(steps)
    return recursion.now
