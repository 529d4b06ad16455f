"""The many regime finds planted communities as well as it was measured to."""

import numpy as np
import pytest

from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import nmi
from kgroups.refine import Hartigan
from kgroups.regimes.many import many_communities, many_given_k
from kgroups.spectrum import moments
from strategies_levels import part_of

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]

SEEDS = (100, 101, 102)


def planted(k, degree, snr):
    return lambda seed: planted_partition(10_000, k=k, degree=degree, snr=snr, rng=seed)


def binomial_lfr(mixing):
    return lambda seed: lfr_benchmark(
        10_000, degree=20, mixing=mixing, internal="binomial", rng=seed
    )


# Mean NMI and its standard deviation over 20 graphs with the seeds 0 to 19; k was right in all.
CELLS = [
    pytest.param(planted(100, 20.0, 2.5), 0.9998, 0.0001, id="100 clear groups"),
    pytest.param(planted(50, 15.0, 1.8), 0.9819, 0.0024, id="50 faint groups"),
    pytest.param(binomial_lfr(0.4), 0.9982, 0.0005, id="LFR, mixing .4"),
    pytest.param(binomial_lfr(0.5), 0.9898, 0.0017, id="LFR, mixing .5"),
]


@pytest.mark.parametrize(("draw", "mean", "spread"), CELLS)
def test_planted_communities_are_found(draw, mean, spread):
    """Bound: five standard deviations below the mean, on graphs that were not measured."""
    for seed in SEEDS:
        graph, truth = draw(seed)
        part, rows = part_of(graph)
        found = many_communities(
            part, moments(part.bound), Hartigan(), np.random.default_rng(seed), weighted=False
        )
        assert found.k == np.unique(truth[rows]).size
        assert nmi(truth[rows], found.z) > mean - 5 * spread


def test_planted_communities_are_found_when_k_is_given():
    """20 graphs with the seeds 0 to 19: .9825 (sd .0024)."""
    for seed in SEEDS:
        graph, truth = planted(50, 15.0, 1.8)(seed)
        part, rows = part_of(graph)
        rng = np.random.default_rng(seed)
        found = many_given_k(part, moments(part.bound), 50, rng, weighted=False)
        assert found.k == 50
        assert nmi(truth[rows], found.z) > 0.9825 - 5 * 0.0024
