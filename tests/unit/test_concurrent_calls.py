"""Several threads on one graph: the results of one, whatever is cached first."""

import threading
from concurrent.futures import ThreadPoolExecutor

import igraph
import networkx as nx
import numpy as np
import pytest

import kgroups as kg

THREADS = 4


def own_graph():
    return kg.generators.planted_partition(600, 4, 10.0, 2.0, rng=3).graph


def weighted_networkx():
    u, v, _ = own_graph().edges()
    G = nx.Graph()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(u)).tolist()
    G.add_weighted_edges_from(zip(u.tolist(), v.tolist(), weights, strict=True))
    return G


def named_igraph():
    u, v, _ = own_graph().edges()
    graph = igraph.Graph(n=600, edges=np.column_stack([u, v]))
    graph.vs["name"] = [f"node {i}" for i in range(600)]
    return graph


def everything(graph):
    """Ask for whatever a graph or a partition keeps for later."""
    found = kg.detect_communities(graph, rng=0)
    read = kg.as_graph(graph)
    return (
        found.labels.tolist(),
        kg.detect_communities(graph, 4, rng=0).labels.tolist(),
        kg.estimate_k(graph).k,
        found.scores(),
        read.degrees.tolist(),
        read.to_scipy().sum(),
        list(read.nodes),
    )


def served(G):
    """Ask the networkx backend for what its conversion keeps for later."""
    halves = [set(list(G)[:300]), set(list(G)[300:])]
    return (
        nx.community.modularity(G, halves, backend="kgroups"),
        nx.community.louvain_communities(G, seed=1, backend="kgroups"),
        nx.bethe_hessian_matrix(G, 2.0, backend="kgroups").sum(),
    )


@pytest.mark.parametrize(
    ("make", "ask"),
    [
        (own_graph, everything),
        (weighted_networkx, everything),
        (named_igraph, everything),
        (weighted_networkx, served),
    ],
    ids=["Graph", "networkx", "igraph", "backend"],
)
def test_threads_on_one_graph_find_what_one_thread_finds(make, ask):
    with nx.config(warnings_to_ignore={"cache"}), ThreadPoolExecutor(THREADS) as pool:
        expected = ask(make())
        for _ in range(2):
            graph, together = make(), threading.Barrier(THREADS, timeout=60)

            def run(graph=graph, together=together):
                together.wait()
                return ask(graph)

            calls = [pool.submit(run) for _ in range(THREADS)]
            assert [call.result() for call in calls] == [expected] * THREADS
