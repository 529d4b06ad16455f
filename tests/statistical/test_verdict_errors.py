"""How often verdicts are wrong: on random graphs, and on planted communities."""

import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import (
    PlantedAffinity,
    PowerLaw,
    configuration_model,
    degree_corrected_sbm,
    planted_partition,
)


def erdos_renyi(seed):
    n, degree = (200, 350)[seed % 2], (3.0, 6.0, 12.0)[seed % 3]
    return planted_partition(n, k=2, degree=degree, snr=0.0, rng=10_000 + seed).graph


def power_law(seed):
    """Draw a graph that has power-law degrees and nothing else, forgetting how it was made."""
    law = PowerLaw((2.2, 2.5, 3.0)[seed % 3], 30.0)
    n = (200, 350)[seed % 2]
    start = degree_corrected_sbm([n], [[4.0 / n]], law, rng=20_000 + seed).graph
    return configuration_model(start, rng=20_000 + seed)


def rewired(seed):
    name = ("karate", "les_miserables", "davis_southern_women")[seed % 3]
    graph = kg.as_graph(kg.datasets.load(name).graph, weight=None)
    return configuration_model(graph, rng=30_000 + seed)


def degree_corrected(seed, *, n, k, snr):
    """Draw communities of a signal-to-noise ratio that is relative to rho(B), not the mean degree.

    Power-law degrees make rho(B) much larger than the mean degree.
    """
    theta = PowerLaw().draw(n, np.random.default_rng(40_000 + seed))
    sizes, degree = [n // k] * k, 5.0
    alike = degree_corrected_sbm(sizes, PlantedAffinity(degree, 0.0), theta, rng=seed).graph
    r = kg.BetheHessian("nonbacktracking").radius(alike)
    P = PlantedAffinity(degree, snr * np.sqrt(degree) / r)
    return degree_corrected_sbm(sizes, P, theta, rng=seed).graph


def share_significant(draw, seeds, **options):
    """Return the share of graphs on which structure is claimed."""
    found = 0
    for seed in seeds:
        found += kg.significance(draw(seed), rng=seed, **options).significant
    return found / len(seeds)


NULLS = [erdos_renyi, power_law, rewired]


@pytest.mark.statistical
@pytest.mark.compiled
def test_few_random_graphs_are_called_structured():
    shares = [share_significant(draw, range(20), nulls=19) for draw in NULLS]
    # Of 60 at 5 %: more than 9 happen once in 1000 times.
    assert sum(shares) * 20 <= 9


@pytest.mark.slow
@pytest.mark.statistical
def test_size_on_a_thousand_random_graphs():
    counts = (334, 333, 333)
    shares = [
        share_significant(draw, range(count), nulls=19)
        for draw, count in zip(NULLS, counts, strict=True)
    ]
    assert 0.035 <= np.average(shares, weights=counts) <= 0.065


@pytest.mark.statistical
@pytest.mark.compiled
def test_clear_communities_are_seen():
    for draw in (
        lambda seed: planted_partition(1000, k=2, degree=3.0, snr=1.5, rng=seed).graph,
        lambda seed: degree_corrected(seed, n=999, k=3, snr=1.9),
    ):
        assert share_significant(draw, range(5), nulls=19) == 1.0


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize(("n", "nulls"), [(1000, 99), (6000, 0)])
def test_power_on_planted_partitions(n, nulls, k):
    def draw(seed):
        return planted_partition(n, k=k, degree=3.0, snr=1.3, rng=seed).graph

    assert share_significant(draw, range(40), nulls=nulls) >= 0.95


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize(("n", "nulls"), [(1000, 99), (6000, 0)])
def test_power_on_power_law_degrees(n, nulls, k):
    def draw(seed):
        return degree_corrected(seed, n=n - n % k, k=k, snr=1.7)

    assert share_significant(draw, range(40), nulls=nulls) >= 0.95
