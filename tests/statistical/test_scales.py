"""The scales of planted hierarchies are found, and flat graphs have one."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.adapters import as_graph
from kgroups.generators import (
    degree_corrected_sbm,
    lfr_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.metrics import ami
from kgroups.search import Search, find_scales, prepare

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]

LEAF = np.arange(27).repeat(81)


def hierarchy(degree, seed):
    """Draw 27 groups of 81 nodes in 9 groups, and these in 3."""
    group = np.arange(27)
    shared = [group[:, np.newaxis] // size == group // size for size in (1, 3, 9)]
    rates = np.select(shared, [1.0, 0.16, 0.045], 0.012)
    mean = (81 * rates.sum() - 27) * 81 / LEAF.size
    return stochastic_block_model([81] * 27, rates * degree / mean, rng=seed).graph


def scales_of(graph):
    """Return labels at all scales, and those of the partition that was found first."""
    ready = prepare(as_graph(graph))
    z = ready.sorted(np.array(kg.detect_communities(graph).labels))
    found = find_scales(ready.problem, z, Search(), np.random.default_rng(0))
    return [ready.restored(scale.z) for scale in found], ready.restored(z)


# Mean AMI of the best level with each planted one, and its standard deviation, over graphs with
# the seeds 0 to 19. All of them had three levels, beside the partition found first if that was none
# of these.
LEVELS = [
    pytest.param(20, (0.9941, 0.9996, 0.9997), (0.0013, 0.0009, 0.0009), id="degree 20"),
    pytest.param(10, (0.9114, 0.9712, 0.9859), (0.0139, 0.0067, 0.0065), id="degree 10"),
]


@pytest.mark.parametrize(("degree", "mean", "spread"), LEVELS)
def test_three_levels_of_a_hierarchy_are_found(degree, mean, spread):
    """Bound: five standard errors below the mean, on graphs that were not measured."""
    seeds, found = (100, 101), []
    for seed in seeds:
        levels, first = scales_of(hierarchy(degree, seed))
        mixed = all(abs(int(first.max()) + 1 - k) > 3 for k in (27, 9, 3))
        assert len(levels) in (3, 3 + mixed)
        found.append([max(ami(LEAF // size, z) for z in levels) for size in (1, 3, 9)])
    least = np.array(mean) - 5 * np.array(spread) / np.sqrt(len(seeds))
    assert np.all(np.mean(found, axis=0) >= least)


FLAT = {
    "5 groups": lambda seed: planted_partition(1_000, k=5, degree=20, snr=4.0, rng=seed).graph,
    "40 groups": lambda seed: planted_partition(2_000, k=40, degree=20, snr=4.0, rng=seed).graph,
    "LFR, mixing .3": lambda seed: lfr_benchmark(2_000, degree=15, mixing=0.3, rng=seed).graph,
    "LFR, mixing .5": lambda seed: lfr_benchmark(2_000, degree=15, mixing=0.5, rng=seed).graph,
    "uneven degrees": lambda seed: (
        degree_corrected_sbm(
            [200] * 10, np.full((10, 10), 0.003) + 0.057 * np.eye(10), rng=seed
        ).graph
    ),
    "random": lambda seed: nx.gnm_random_graph(2_000, 12_000, seed=seed),
}


@pytest.mark.parametrize("draw", FLAT.values(), ids=FLAT)
def test_flat_graphs_have_one_scale(draw):
    """All of 20 graphs of each kind with other seeds had one."""
    for seed in (100, 101):
        assert len(scales_of(draw(seed))[0]) == 1
