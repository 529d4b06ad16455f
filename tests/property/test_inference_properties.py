"""Probabilities stay probabilities on any graph, and names mean nothing."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.kernels_inference import with_arguments
from helpers.oracles_inference import some_rates, sums_over_labels
from helpers.oracles_levels import dense
from helpers.strategies_levels import connected_graphs, graph_of, labelings, level_of, weightings
from kgroups.inference import BeliefPropagation
from kgroups.inference._beliefs_nb import _EDGES
from kgroups.inference.belief_propagation import Learning, Schedule, block_model, propagate
from kgroups.inference.confidence import confidence_of_labels
from kgroups.search import finest_level, prepare

METHODS = st.builds(
    BeliefPropagation,
    rates=st.sampled_from(["planted", "own"]),
    degrees=st.sampled_from(["corrected", "uniform"]),
    em_steps=st.integers(0, 4),
    em_sweeps=st.integers(1, 4),
    max_sweeps=st.integers(1, 6),
)


@st.composite
def labeled_graphs(draw):
    """Draw a graph of several components, isolated nodes among them, weights, labels and k."""
    G = draw(connected_graphs(max_nodes=12))
    G.remove_edges_from([edge for edge in list(G.edges) if draw(st.integers(0, 4)) == 0])
    G.add_nodes_from(range(len(G), len(G) + draw(st.integers(0, 2))))
    graph = graph_of(G, weights=draw(weightings(G)))
    z, k = draw(labelings(len(G)))
    return graph, z.astype(np.int64), k


@st.composite
def labeled_trees(draw):
    """Draw a tree, weights of its edges, labels, and rates of two or three groups."""
    n, k = draw(st.integers(2, 7)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    G = nx.empty_graph(n)
    G.add_edges_from((i, int(rng.integers(i))) for i in range(1, n))
    rates = some_rates(k, own=draw(st.booleans()), seed=int(rng.integers(2**32)))
    return G, draw(weightings(G)), rng.integers(k, size=n), rates


@st.composite
def labeled_components(draw):
    """Draw a level of several components, isolated nodes among them, labels and numbers of each."""
    graphs = draw(st.lists(connected_graphs(min_nodes=1, max_nodes=8), min_size=2, max_size=4))
    weights, drawn = None, [draw(labelings(len(G))) for G in graphs]
    if draw(st.booleans()):
        own = [draw(weightings(G)) for G in graphs]
        weights = np.concatenate(
            [np.ones(len(G.edges)) if w is None else w for G, w in zip(graphs, own, strict=True)]
        )
    A = graph_of(nx.disjoint_union_all(graphs), weights=weights).simple_adjacency()
    offsets = np.concatenate([[0], np.cumsum([len(G) for G in graphs])])
    level = finest_level(A, weighted=weights is not None, offsets=offsets)
    labels = np.concatenate([z for z, _ in drawn]).astype(np.int64)
    return level, labels, np.array([k for _, k in drawn])


def bits(found):
    """Return all numbers of an inference."""
    numbers = (found.evidence, found.residual, found.rates.between, found.sweeps, found.converged)
    arrays = (found.marginals, found.rates.inside, found.rates.prior)
    return [repr(numbers), *(array.tobytes() for array in arrays)]


@given(
    labeled_components(),
    st.sampled_from(["unchanged", "planted", "contrast", "own"]),
    st.sampled_from([Schedule(49, 1, 1, 1e-3, np.inf), Schedule(3, 4, 15, 1e-2, 0.5)]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 10**6]),
)
def test_components_at_once_are_inferred_as_each_alone(
    drawn, rule, schedule, corrected, need_all, messages_per_call
):
    level, z, k = drawn
    options = {"need_all": need_all, "messages_per_call": messages_per_call}
    # Components without edges have no rates.
    which = np.flatnonzero(level.entries)
    model = block_model(level, degree_corrected=corrected)
    found = propagate(model, z, k, which, Learning(rule), schedule, **options)
    assert len(found) == which.size
    for c, beside in zip(which.tolist(), found, strict=True):
        own = block_model(level.block(c), degree_corrected=corrected)
        whole = np.zeros(1, dtype=np.int64)
        arguments = z[level.rows(c)], k[[c]], whole, Learning(rule), schedule
        (alone,) = propagate(own, *arguments, **options)
        (chosen,) = propagate(model, z, k, np.array([c]), Learning(rule), schedule, **options)
        assert bits(alone) == bits(beside) == bits(chosen)


@given(labeled_trees(), st.booleans())
def test_beliefs_on_trees_are_sums_over_all_labels(drawn, corrected):
    G, weights, z, rates = drawn
    model = block_model(level_of(G, weights=weights), degree_corrected=corrected)
    schedule = Schedule(0, 1, 20_000, 1e-15, 0.0)
    found, arguments = with_arguments(model, z, rates, Learning("unchanged"), schedule)
    evidence, marginals, edges = sums_over_labels(
        dense(model.A), model.theta, rates, found.marginals
    )
    assert found.marginals == pytest.approx(marginals, abs=1e-12)
    assert found.evidence == pytest.approx(evidence, rel=1e-12, abs=1e-12)
    assert arguments["sums"][_EDGES, 0] == pytest.approx(edges, rel=1e-12, abs=1e-12)


@given(labeled_graphs(), METHODS)
def test_rows_sum_to_one(drawn, method):
    graph, z, k = drawn
    level = finest_level(graph.simple_adjacency(), weighted=graph.is_weighted)
    found = method.infer(level, z, k)
    assert found.marginals.shape == (graph.n, k)
    assert (found.marginals >= 0.0).all()
    assert found.marginals.sum(axis=1) == pytest.approx(np.ones(graph.n), abs=1e-9)
    assert np.isfinite(found.evidence)
    assert (found.rates.inside > 0.0).all()
    assert found.rates.between > 0.0
    assert found.rates.prior.sum() == pytest.approx(1.0)
    assert found.sweeps <= method.most_sweeps


@given(labeled_graphs(), METHODS, st.randoms(use_true_random=False))
def test_relabeling_permutes_columns(drawn, method, random):
    graph, z, k = drawn
    level = finest_level(graph.simple_adjacency(), weighted=graph.is_weighted)
    names = np.array(random.sample(range(k), k))
    one, other = (method.infer(level, labels, k) for labels in (z, names[z]))
    assert other.marginals[:, names] == pytest.approx(one.marginals, abs=1e-6)
    assert other.evidence == pytest.approx(one.evidence, abs=1e-6)


@given(labeled_graphs(), st.sampled_from([0.0, 5e7]), st.randoms(use_true_random=False))
def test_confidence_is_a_probability_and_names_mean_nothing(drawn, most_messages, random):
    graph, z, k = drawn
    found = confidence_of_labels(prepare(graph), z, most_messages=most_messages)
    assert ((found.own >= 0.0) & (found.own <= 1.0 + 1e-12)).all()
    assert (found.own + found.runner_up_probability <= 1.0 + 1e-9).all()
    if k == 1:
        assert found.runner_up.tolist() == [-1] * graph.n
        return
    assert (found.runner_up != z).all()
    assert ((found.runner_up >= 0) & (found.runner_up < k)).all()
    names = np.array(random.sample(range(k), k))
    other = confidence_of_labels(prepare(graph), names[z], most_messages=most_messages)
    assert other.own.tolist() == found.own.tolist()
    assert other.runner_up.tolist() == names[found.runner_up].tolist()
