"""Gibbs sampling of labels at fixed rates, for graphs with too many messages."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kgroups._csr import index_type, row_lengths, rows_of, writable
from kgroups._types import Floats, Indices, Ints
from kgroups.inference._gibbs_nb import TRIES, resample
from kgroups.inference.belief_propagation import BlockModel, Rates

__all__ = ["GibbsMasses", "gibbs_masses"]

# Nodes per kernel call; bounds the random numbers in memory, and Ctrl-C is handled in between.
_CHUNK = 1 << 16
# Up to this many groups each node weighs all of them.
_FEW_GROUPS = 32
# Points at which the mass of the groups without a link is computed, between which it is
# interpolated, and the logarithmic width of classes of groups that are summed as one.
_POINTS = 256
_CLASS_WIDTH = 0.01


class GibbsMasses(NamedTuple):
    """Probabilities of the groups that each node or its neighbors had at the start.

    Attributes
    ----------
    slots : ndarray of shape (n + 1,)
        Where the groups of each node start.
    group : ndarray of int
        The groups of each node, in increasing order.
    mass : ndarray of float
        Their probabilities.
    """

    slots: Ints
    group: Indices
    mass: Floats


def gibbs_masses(
    model: BlockModel,
    labels: Ints,
    rates: Rates,
    *,
    sweeps: int = 60,
    burn_in: int = 10,
    few_groups: int = _FEW_GROUPS,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda sweeps: None,
) -> GibbsMasses:
    """Sample labels in sweeps over all nodes, and average the probabilities of each draw.

    Rates and shares are those given. The first ``burn_in`` sweeps are not counted. With more than
    ``few_groups`` groups, those without a link to a node enter as one sum, computed before the
    sweep. ``progress`` receives the number of sweeps done.
    """
    n, k = model.n, rates.inside.size
    small = index_type(n, k)
    slots, group = _candidates(model, labels, k)
    group, first = group.astype(small), labels.astype(small)
    mass, z = np.zeros(group.size), first.copy()
    gain, cost = np.log(rates.inside / rates.between), rates.inside - rates.between
    log_prior, points = np.log(rates.prior), _points(model.theta)
    cumulative, place = np.cumsum(rates.prior), np.full(k, -1, dtype=np.int64)
    unlinked, most = np.zeros(0), max(k, 1 + int(row_lengths(model.A).max(initial=0)))
    linked, score = np.empty(most, dtype=np.int64), np.empty(most)
    indptr, indices, data = map(writable, model.A)
    theta, prior = writable(model.theta), writable(rates.prior)
    for done in range(sweeps):
        total = np.bincount(z, weights=model.theta, minlength=k).astype(float)
        if k > few_groups:
            unlinked = _unlinked_mass(model.theta, points, rates.prior, cost * total)
        for start in range(0, n, _CHUNK):
            uniforms = rng.random((min(_CHUNK, n - start), 1 + 2 * TRIES))
            resample(
                indptr,
                indices,
                data,
                theta,
                gain,
                cost,
                prior,
                log_prior,
                cumulative,
                unlinked,
                slots,
                group,
                mass,
                first,
                z,
                total,
                place,
                linked,
                score,
                start,
                uniforms,
                done >= burn_in,
            )
        progress(done + 1)
    return GibbsMasses(slots, group, mass / max(sweeps - burn_in, 1))


def _candidates(model: BlockModel, labels: Ints, k: int) -> tuple[Ints, Ints]:
    """Return where the slots of each node start, and their groups: its own and its neighbors'."""
    n = model.n
    pairs = np.concatenate(
        [np.arange(n) * k + labels, rows_of(model.A) * k + labels[model.A.indices]]
    )
    pairs = np.unique(pairs)
    return np.searchsorted(pairs, np.arange(n + 1) * k), pairs % k


def _points(theta: Floats) -> Floats:
    """Return all values of theta, or a few between which the others lie."""
    points = np.unique(theta)
    if points.size <= _POINTS:
        return points
    # Quantiles and equal steps: most nodes have small theta, and hubs are far apart.
    steps = np.linspace(points[0], points[-1], _POINTS // 2)
    return np.unique(np.append(steps, np.quantile(theta, np.linspace(0, 1, _POINTS // 2))))


def _unlinked_mass(theta: Floats, points: Floats, prior: Floats, slope: Floats) -> Floats:
    """Return the sum of prior[a] exp(-theta[i] slope[a]) over all groups, for each node.

    Groups of nearly equal slope are summed as one, and the sum is interpolated between points.
    """
    classes = np.unique(
        np.round(np.log(np.maximum(slope, 1e-12)) / _CLASS_WIDTH), return_inverse=True
    )[1]
    weight = np.bincount(classes, weights=prior)
    mean = np.bincount(classes, weights=prior * slope) / weight
    # Logarithms of such sums are convex and smooth; the smallest slope is taken out of them.
    least = float(mean.min())
    logs = np.log(np.exp(-np.outer(points, mean - least)) @ weight) - points * least
    return np.exp(np.interp(theta, points, logs))
