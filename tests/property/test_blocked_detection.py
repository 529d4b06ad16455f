"""What holds of the communities of any small stored graph that is searched in blocks."""

from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers.stores import in_blocks
from kgroups.blocks import detect_stored
from kgroups.search import prepare
from kgroups.search.objective import nats_saved


@st.composite
def edge_lists(draw):
    """Return ends of edges between a few random graphs, with loops, parallel edges and gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts, first = [], 0
    for _ in range(draw(st.integers(1, 3))):
        groups, size = draw(st.integers(1, 4)), draw(st.integers(1, 9))
        graph = nx.planted_partition_graph(
            groups, size, draw(st.sampled_from([0.3, 0.7, 1.0])),
            draw(st.sampled_from([0.0, 0.05, 0.3])), seed=int(rng.integers(2**31)),
        )  # fmt: skip
        parts.append(np.array(graph.edges, dtype=np.int64).reshape(-1, 2) + first)
        first += groups * size
    parts.append(np.repeat(rng.integers(0, first, draw(st.integers(0, 3))), 2).reshape(-1, 2))
    edges = np.concatenate(parts)
    more = rng.integers(0, max(1, len(edges)), draw(st.integers(0, 3)) if len(edges) else 0)
    edges = np.concatenate([edges, edges[more]])
    return edges * draw(st.sampled_from([1, 1_000_003]))


def found_in(edges, weights=None, **options):
    """Return what is found in blocks, and the graph in memory."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        in_blocks(patch)
        columns = {"source": edges[:, 0], "target": edges[:, 1]}
        np.savez(
            Path(folder, "e.npz"), **columns, **({} if weights is None else {"weight": weights})
        )
        entries = max(1, len(edges) // 4)
        store = kg.open_graph(
            Path(folder, "e.npz"), store=Path(folder, "store"), block_entries=entries
        )
        found = detect_stored(store, **options)
        return found.labels.copy(), found.report, store.to_graph()


def simple(graph):
    """Return the links of a graph as networkx has them."""
    u, v, _ = graph.edges()
    links = nx.empty_graph(graph.n)
    links.add_edges_from((a, b) for a, b in zip(u.tolist(), v.tolist(), strict=True) if a != b)
    return links


@given(edges=edge_lists(), seed=st.sampled_from([None, 7]))
@settings(max_examples=6)
def test_communities_are_connected_parts_of_components(edges, seed):
    labels, report, graph = found_in(edges, rng=seed)
    assert labels.size == graph.n
    assert np.unique(labels).size == report.k_found
    assert np.array_equal(np.unique(labels), np.arange(report.k_found))
    links = simple(graph)
    assert report.n_components == nx.number_connected_components(links)
    for community in range(report.k_found):
        assert nx.is_connected(links.subgraph(np.flatnonzero(labels == community).tolist()))


@given(edges=edge_lists())
@settings(max_examples=5)
def test_the_nats_in_the_report_are_those_of_the_labels(edges):
    labels, report, graph = found_in(edges, method=kg.Search(dispersion=1.0))
    # Links that repeat are counted as weights.
    if graph.is_weighted:
        return
    ready = prepare(graph)
    z = ready.sorted(labels)
    problem = ready.problem
    local = np.concatenate(
        [np.unique(z[problem.rows(c)], return_inverse=True)[1] for c in range(problem.sizes.size)]
    ) if graph.n else z  # fmt: skip
    k = np.array([np.unique(z[problem.rows(c)]).size for c in range(problem.sizes.size)])
    saved = nats_saved(problem.level, local, k)
    for one in report.components:
        if one.k > 1:
            assert one.nats == pytest.approx(saved[one.component], abs=1e-6 * (1 + abs(one.nats)))


@given(edges=edge_lists(), weight=st.sampled_from([1.0, 3.0, 0.1, 1e-30, 1e30]))
@settings(max_examples=4)
def test_equal_weights_are_no_weights(edges, weight):
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    plain = found_in(edges)[0]
    assert np.array_equal(plain, found_in(edges, np.full(len(edges), weight))[0])


@given(edges=edge_lists(), seed=st.integers(0, 99), power=st.integers(-40, 40))
@settings(max_examples=4)
def test_the_unit_of_weights_does_not_matter(edges, seed, power):
    weights = np.exp(np.random.default_rng(seed).normal(size=len(edges)))
    weights = np.round(weights * 64.0) + 1.0
    one, report, _ = found_in(edges, weights)
    other, scaled, _ = found_in(edges, weights * 2.0**power)
    assert np.array_equal(one, other)
    if report.r is not None:
        assert scaled.r == pytest.approx(report.r * 2.0**power) or scaled.r == pytest.approx(
            report.r
        )


@given(edges=edge_lists(), data=st.data())
@settings(max_examples=6)
def test_a_given_number_is_found_or_refused(edges, data):
    graph = nx.Graph(edges.tolist())
    parts = sorted(map(len, nx.connected_components(graph)))
    if not parts:
        return
    # One component with links is searched in blocks.
    largest = max(nx.connected_components(graph), key=len)
    edges = edges[np.isin(edges[:, 0], list(largest))]
    k = data.draw(st.integers(1, parts[-1]))
    told = ""
    try:
        labels = found_in(edges, k=k)[0]
    except kg.errors.InputError as error:
        told = str(error)
    if told:
        assert "could not be told apart" in told
        return
    assert np.array_equal(np.unique(labels), np.arange(k))
