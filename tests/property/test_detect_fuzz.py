"""Every graph gives a valid partition or the documented error: never a warning, never a lost node.

Warnings are errors in the whole suite, so a warning of numpy fails these tests too.
"""

import json
import math
import operator
import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers.strategies_graphs import (
    FORMS,
    GOOD_WEIGHTS,
    NUMBERED,
    graph_cases,
    operators,
    operators_with_numbers,
    refinements,
    seeds,
)
from kgroups.errors import InputError, NumberOfCommunitiesError

BAD_KS = (0, -1, 2.5, True, np.True_, "2", 10**6)
weight_names = st.sampled_from(["weight", "weight", "weight", None, "strength"])
self_loops = st.sampled_from(["drop", "keep"])
SORTABLE = tuple(form for form in FORMS if form not in NUMBERED)


def examples(count):
    relaxed = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=count, suppress_health_check=relaxed)


@st.composite
def calls(draw, max_nodes=12):
    """Draw a graph and the arguments of detection, right or wrong."""
    case = draw(graph_cases(max_nodes=max_nodes))
    weight = draw(weight_names)
    choices = [None, "sum", "union"] if weight != "strength" else [None]
    options = {
        "weight": weight,
        "symmetrize": draw(st.sampled_from(choices)),
        "self_loops": draw(self_loops),
        "operator": draw(operators_with_numbers),
        "init": draw(seeds),
        "refine": draw(st.one_of(st.none(), st.just(kg.Hartigan()), refinements)),
    }
    given_k = st.integers(1, max(1, len(case.nodes()))).flatmap(
        lambda k: st.sampled_from([k, k, np.int64(k)])
    )
    k = draw(st.one_of(st.none(), given_k, st.sampled_from(BAD_KS)))
    return case, k, options


def expected_error(case, k, options):
    """Return the error that detection must end with, in the order in which it looks."""
    weight, symmetrize = options["weight"], options["symmetrize"]
    wrong = case.expected_error(weight=weight, symmetrize=symmetrize)
    if wrong is not None:
        return wrong
    if k is not None:
        whole = not isinstance(k, bool | np.bool_ | str | float)
        if not whole or not 1 <= operator.index(k) <= len(case.nodes()):
            return NumberOfCommunitiesError
    r = options["operator"].r
    if isinstance(r, str):
        return None
    if not case.is_weighted(weight=weight, symmetrize=symmetrize):
        return InputError if r <= 1 else None
    graph = kg.as_graph(case.build(), weight=weight, symmetrize=symmetrize)
    weights = graph.simple_adjacency(loops=options["self_loops"] == "keep").data
    return InputError if weights.size and r > 1e9 * float(weights.max()) else None


def positive_graph(case, options):
    G = nx.Graph()
    G.add_nodes_from(case.nodes())
    ignored = options["weight"] is None or options["symmetrize"] == "union"
    G.add_edges_from(case.links(ignore_weights=ignored))
    return G


def check_partition(partition, case, k, options):
    nodes = case.nodes()
    assert set().union(*partition) == nodes
    assert sum(map(len, partition)) == len(nodes)
    assert all(partition)
    assert set(partition.nodes) == nodes
    for name, label in zip(partition.nodes, partition.labels.tolist(), strict=True):
        assert name in partition[label]
    G = positive_graph(case, options)
    assert nx.community.is_partition(G, partition)
    assert set(partition.uninformed) <= nodes
    apart = [set(c) for c in partition if not nx.is_connected(G.subgraph(c))]
    assert [set(c) for c in partition.disconnected] == apart
    if k is None:
        assert partition.uninformed == ()
        assert apart == []
        assert len(partition) >= nx.number_connected_components(G)
    else:
        assert len(partition) == k
        assert len(set(map(partition.membership.get, partition.uninformed))) <= 1


def check_records(partition):
    report = partition.report
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()
    assert report.k_found == len(partition)
    assert report.uninformed == len(partition.uninformed)
    assert all(report.lines())
    assert json.dumps(partition.spectrum.to_dict(), allow_nan=False)
    assert report.k_hat in (None, partition.spectrum.k)
    scores = partition.scores().to_dict()
    sizes = scores.pop("sizes")
    assert sizes == sorted(map(len, partition), reverse=True)
    assert all(math.isfinite(value) for value in scores.values()), scores
    copy = pickle.loads(pickle.dumps(partition))
    assert copy == partition
    assert copy.report == report
    assert repr(copy) == repr(partition)


def check_call(call):
    case, k, options = call
    wrong = expected_error(case, k, options)
    if wrong is None:
        partition = kg.detect_communities(case.build(), k, **options)
        check_partition(partition, case, k, options)
        check_records(partition)
    else:
        with pytest.raises(InputError) as caught:
            kg.detect_communities(case.build(), k, **options)
        assert caught.type is wrong


@examples(2000)
@given(calls())
def test_small_graphs_give_a_partition_or_the_documented_error(call):
    check_call(call)


@examples(150)
@given(calls(max_nodes=40))
def test_larger_graphs_give_a_partition_or_the_documented_error(call):
    check_call(call)


@pytest.mark.slow
@examples(30_000)
@given(calls())
def test_very_many_small_graphs(call):
    check_call(call)


@pytest.mark.slow
@examples(3_000)
@given(calls(max_nodes=40))
def test_very_many_larger_graphs(call):
    check_call(call)


@st.composite
def valid_calls(draw, *, forms=FORMS, weights=GOOD_WEIGHTS, with_k=True):
    """Draw a graph that can be read, and arguments that fit it."""
    case = draw(graph_cases(forms=forms, weights=weights))
    n = len(case.nodes())
    k = draw(st.one_of(st.none(), st.integers(1, n))) if n and with_k else None
    options = {
        "symmetrize": "sum",
        "self_loops": draw(self_loops),
        "operator": draw(operators),
        "init": draw(seeds),
        "refine": draw(st.one_of(st.none(), st.just(kg.Hartigan()), refinements)),
    }
    return case, k, options


def is_sortable(names):
    return len(set(map(type, names))) <= 1


def check_order(call, random):
    case, k, options = call
    if not is_sortable(case.names):
        return
    nodes, edges = list(range(len(case.names))), list(range(len(case.edges)))
    random.shuffle(nodes)
    random.shuffle(edges)
    flipped = {t for t in edges if random.random() < 0.5}
    other = case.permuted(nodes, edges, flipped)
    if "igraph" in case.form and case.names == tuple(range(len(case.names))):
        return
    if case.form in ("networkx Graph", "networkx DiGraph") and len(case.stored()) < len(edges):
        return
    first = kg.detect_communities(case.build(), k, **options)
    second = kg.detect_communities(other.build(), k, **options)
    assert dict(second.membership) == dict(first.membership)
    assert list(second) == list(first)
    assert set(second.uninformed) == set(first.uninformed)


exact_weights = {name: GOOD_WEIGHTS[name] for name in ("none", "some", "ones", "counts")}


@examples(400)
@given(valid_calls(forms=SORTABLE, weights=exact_weights), st.randoms(use_true_random=False))
def test_order_of_nodes_and_edges_does_not_matter(call, random):
    check_order(call, random)


@pytest.mark.slow
@examples(8_000)
@given(valid_calls(forms=SORTABLE, weights=exact_weights), st.randoms(use_true_random=False))
def test_order_of_nodes_and_edges_does_not_matter_on_very_many_graphs(call, random):
    check_order(call, random)


def check_unit(call, factor):
    case, k, options = call
    loops = [u for u, v, _ in case.edges if u == v]
    if options["self_loops"] == "keep" and len(set(loops)) < len(loops):
        # Parallel loops without weights count once, with weights they add up.
        return
    one_of_parallel = case.form in ("networkx Graph", "networkx DiGraph")
    if one_of_parallel and len(case.stored()) < len(case.edges):
        # networkx keeps the last weight that was given: a later edge without one changes nothing,
        # but the scaled one has a weight.
        return
    first = kg.detect_communities(case.build(), k, **options)
    second = kg.detect_communities(case.scaled(factor).build(), k, **options)
    assert set(second) == set(first)
    assert second.spectrum.k == first.spectrum.k


unit_weights = {
    name: GOOD_WEIGHTS[name] for name in ("none", "some", "counts", "moderate", "with zeros")
}
factors = st.sampled_from([1000.0, 1e-3, 1024.0, 2.0**-40, 1e100])


@st.composite
def calls_without_ties(draw):
    """Draw a graph whose weights have no symmetry: with k given, equal nodes may go either way."""
    case, k, options = draw(valid_calls(weights={"none": st.none()}))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.gamma(2.0, size=len(case.edges)).tolist()
    edges = tuple((u, v, w) for (u, v, _), w in zip(case.edges, weights, strict=True))
    return replace(case, edges=edges), k, options


@examples(300)
@given(valid_calls(weights=unit_weights, with_k=False), factors)
def test_the_unit_of_weights_does_not_matter_when_k_is_found(call, factor):
    check_unit(call, factor)


@examples(300)
@given(calls_without_ties(), factors)
def test_the_unit_of_weights_does_not_matter_when_k_is_given(call, factor):
    check_unit(call, factor)


@pytest.mark.slow
@examples(6_000)
@given(st.one_of(valid_calls(weights=unit_weights, with_k=False), calls_without_ties()), factors)
def test_the_unit_of_weights_does_not_matter_on_very_many_graphs(call, factor):
    check_unit(call, factor)


def check_refinement(call, labels, refine):
    case, _, options = call
    options = {name: options[name] for name in ("symmetrize", "self_loops", "operator")}
    graph = kg.as_graph(case.build(), symmetrize="sum")
    start = np.resize(labels, graph.n)
    partition = kg.refine_partition(case.build(), start, refine=refine, **options)
    assert set().union(*partition) == case.nodes()
    assert len(partition) == len(set(start.tolist()))
    assert partition.report.refinement.components == (1 if graph.n else 0)
    again = kg.refine_partition(case.build(), partition, refine=refine, **options)
    assert len(again) == len(partition)


@examples(300)
@given(valid_calls(), st.lists(st.integers(0, 4), min_size=1, max_size=12), refinements)
def test_refinement_keeps_every_node_and_every_community(call, labels, refine):
    check_refinement(call, labels, refine)


def check_estimate(call):
    case, k, options = call
    wanted = {name: options[name] for name in ("symmetrize", "self_loops", "operator")}
    spectrum = kg.estimate_k(case.build(), **wanted)
    detected = kg.detect_communities(case.build(), k, **options).spectrum
    n = len(case.nodes())
    assert 0 <= spectrum.k <= n
    assert set(spectrum.k_at) == {"mean-degree", "second-moment", "nonbacktracking"}
    assert all(0 <= count <= n for count in spectrum.k_at.values())
    assert (spectrum.k, spectrum.k_at) == (detected.k, detected.k_at)
    assert spectrum.below_minus_one == detected.below_minus_one
    # Detection works in the order of the sorted names: equal up to rounding.
    assert spectrum.eigenvalues == pytest.approx(detected.eigenvalues, rel=1e-9, abs=1e-9)


@examples(300)
@given(valid_calls())
def test_the_estimate_is_the_spectrum_of_the_detection(call):
    check_estimate(call)
