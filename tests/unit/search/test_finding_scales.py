"""Scales: finer and coarser partitions, and how those of components are put together."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.adapters import as_graph
from kgroups.generators import stochastic_block_model
from kgroups.metrics import nmi
from kgroups.search import Search, find_scales, nats_saved, prepare
from kgroups.search.scales import _Labels


def nested(seed=0, groups=12, size=15, rates=(0.9, 0.25, 0.02)):
    """Draw groups, three of which are linked more often with each other than with the rest."""
    group = np.arange(groups)
    near = group[:, np.newaxis] // 3 == group // 3
    P = np.where(np.eye(groups) > 0, rates[0], np.where(near, rates[1], rates[2]))
    return stochastic_block_model([size] * groups, P, rng=seed)


def scales_of(graph, z=None, dispersion=1.0, **options):
    ready = prepare(as_graph(graph))
    if z is None:
        z = np.array(kg.detect_communities(graph).labels)
    z = ready.sorted(np.asarray(z, dtype=np.int64))
    problem = ready.problem.dispersed(dispersion)
    return problem, z, find_scales(problem, z, Search(), np.random.default_rng(0), **options)


def numbers(scales):
    return [int(scale.z.max()) + 1 for scale in scales]


def check(problem, z, scales):
    """What holds for all scales."""
    k = numbers(scales)
    assert k == sorted(set(k), reverse=True)
    assert sum(scale.z is z for scale in scales) == 1
    for scale in scales:
        assert np.array_equal(np.unique(scale.z), np.arange(scale.z.max() + 1))
        own = _Labels.of(problem, scale.z)
        nats = nats_saved(problem.level, own.z, own.k, problem.objective)
        assert scale.nats == pytest.approx(nats.sum())


@pytest.mark.parametrize("step", [1, 3])
def test_both_scales_are_found_from_either(step):
    graph, truth = nested()
    problem, z, scales = scales_of(graph, truth // step)
    check(problem, z, scales)
    assert numbers(scales) == [12, 4]
    for scale, own in zip(scales, (truth, truth // 3), strict=True):
        assert nmi(scale.z, own) == pytest.approx(1.0)


def test_a_partition_that_mixes_scales_is_among_them():
    graph, truth = nested()
    mixed = np.unique(np.where(truth < 6, truth, 6 + truth // 3), return_inverse=True)[1]
    problem, z, scales = scales_of(graph, mixed)
    check(problem, z, scales)
    assert numbers(scales) == [12, 8, 4]


def test_the_same_stream_gives_the_same_scales():
    graph, truth = nested(rates=(0.5, 0.15, 0.03))
    first, second = (scales_of(graph, truth)[2] for _ in range(2))
    assert [one.z.tolist() for one in first] == [one.z.tolist() for one in second]


@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(0),
        nx.empty_graph(4),
        nx.path_graph(6),
        nx.star_graph(9),
        nx.gnm_random_graph(120, 500, seed=1),
        nx.ring_of_cliques(3, 8),
        nx.ring_of_cliques(12, 6),
    ],
    ids=str,
)
def test_graphs_without_structure_and_flat_ones_have_one_scale(graph):
    _, z, scales = scales_of(graph)
    assert len(scales) == 1
    assert scales[0].z is z


def test_faint_communities_have_one_scale():
    graph, truth = nested(rates=(0.3, 0.12, 0.03))
    problem, _, scales = scales_of(graph, truth)
    assert nats_saved(problem.level, truth, np.array([12]))[0] < problem.n
    assert numbers(scales) == [12]


def test_whether_communities_are_faint_is_told_by_edges_that_count_in_full():
    graph, truth = nested()
    problem, z, scales = scales_of(graph, truth, dispersion=4.0)
    check(problem, z, scales)
    assert scales[0].nats < problem.n
    assert numbers(scales) == [12, 4]


def test_the_unit_of_weights_does_not_matter():
    graph, truth = nested()
    G = graph.to_networkx()
    for unit in (1.0, 1000.0):
        rng = np.random.default_rng(0)
        for _, _, data in G.edges(data=True):
            data["weight"] = unit * rng.uniform(0.5, 1.5)
        _, _, scales = scales_of(G, truth)
        assert numbers(scales) == [12, 4]


def test_components_of_one_size_change_together():
    """The mixed partition of one hierarchy is between the scales that both have."""
    (first, truth), (second, _) = nested(0), nested(1)
    both = nx.disjoint_union(first.to_networkx(), second.to_networkx())
    mixed = np.unique(np.where(truth < 6, truth, 6 + truth // 3), return_inverse=True)[1]
    problem, z, scales = scales_of(both, np.concatenate([mixed, 8 + truth // 3]))
    check(problem, z, scales)
    assert numbers(scales) == [24, 12, 8]


def test_components_with_larger_communities_change_later():
    (first, truth), (second, _) = nested(0), nested(1, size=60, rates=(0.4, 0.1, 0.01))
    both = nx.disjoint_union(first.to_networkx(), second.to_networkx())
    large = np.arange(12).repeat(60)
    problem, z, scales = scales_of(both, np.concatenate([truth, 12 + large]))
    check(problem, z, scales)
    assert numbers(scales) == [24, 16, 8]


def test_stages_are_announced():
    stages = []
    scales_of(*nested(), progress=stages.append)
    assert len(stages) == len(set(stages)) == 3
