"""What people do with networkx, igraph and scipy around kgroups."""

import igraph
import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.community import quality
from scipy import sparse

import kgroups as kg


@pytest.fixture
def rings():
    return nx.ring_of_cliques(6, 8)


def sizes(partition):
    return sorted(map(len, partition))


def test_own_functions_read_weights_anew_dispatched_ones_follow_the_cache(rings):
    blocks = [set(range(24)), set(range(24, 48))]
    nx.community.modularity(rings, blocks, backend="kgroups")
    own = kg.scoring.modularity(rings, blocks)
    rings[0][1]["weight"] = 50
    fresh = nx.community.modularity(rings, blocks, backend="networkx")
    assert fresh != pytest.approx(own)
    assert kg.scoring.modularity(rings, blocks) == pytest.approx(fresh)
    assert nx.community.modularity(rings, blocks, backend="kgroups") == pytest.approx(own)


@pytest.mark.parametrize(
    "remedy",
    [
        lambda G: G.__networkx_cache__.clear(),
        lambda G: G.add_edge(0, 1, weight=50),
        lambda G: nx.set_edge_attributes(G, {(0, 1): 50}, "weight"),
    ],
    ids=["clear", "add_edge", "set_edge_attributes"],
)
def test_remedies_for_a_stale_cache(rings, remedy):
    blocks = [set(range(24)), set(range(24, 48))]
    nx.community.modularity(rings, blocks, backend="kgroups")
    rings[0][1]["weight"] = 50
    remedy(rings)
    fresh = nx.community.modularity(rings, blocks, backend="networkx")
    assert nx.community.modularity(rings, blocks, backend="kgroups") == pytest.approx(fresh)


def test_networkx_warns_that_it_uses_its_cache(rings):
    blocks = [set(range(24)), set(range(24, 48))]
    nx.config.warnings_to_ignore = set()
    nx.community.modularity(rings, blocks, backend="kgroups")
    with pytest.warns(UserWarning, match="cached graph is being used"):
        nx.community.modularity(rings, blocks, backend="kgroups")


def test_detection_after_weights_are_edited_in_place(rings):
    assert sizes(kg.detect_communities(rings)) == [8] * 6
    # Join the cliques in pairs by heavy edges, as heavy as whatever holds a clique together.
    for u, v, data in rings.edges(data=True):
        data["weight"] = 0.01
        if u // 16 == v // 16:
            data["weight"] = 1.0
    for pair in range(3):
        for u in range(16 * pair, 16 * pair + 8):
            for v in range(16 * pair + 8, 16 * pair + 16):
                rings.add_edge(u, v)
                rings[u][v]["weight"] = 1.0
    assert sizes(kg.detect_communities(rings)) == [16] * 3


def test_detection_on_views(rings):
    view = rings.subgraph(range(24))
    assert sizes(kg.detect_communities(view)) == [8] * 3
    rings.remove_node(0)
    assert sizes(kg.detect_communities(view)) == [7, 8, 8]
    few = nx.subgraph_view(rings, filter_node=lambda v: v < 16)
    assert sizes(kg.detect_communities(few)) == [7, 8]


def test_annotated_graphs_are_written_and_read(rings, tmp_path):
    partition = kg.detect_communities(rings)
    partition.annotate(rings)
    nx.write_gml(rings, tmp_path / "rings.gml")
    back = nx.read_gml(tmp_path / "rings.gml", destringizer=int)
    groups = {}
    for node, community in back.nodes(data="community"):
        groups.setdefault(community, set()).add(node)
    assert kg.Partition([back.nodes[v]["community"] for v in back], nodes=list(back)) == partition
    assert set(map(frozenset, groups.values())) == set(partition)


@pytest.mark.parametrize("backend", ["networkx", "kgroups"])
@pytest.mark.parametrize(
    "function",
    [
        nx.community.modularity,
        nx.community.partition_quality,
        quality.intra_community_edges,
        quality.inter_community_edges,
        quality.inter_community_non_edges,
    ],
    ids=lambda function: function.__name__,
)
def test_results_pass_to_the_functions_of_networkx(rings, function, backend):
    partition = kg.detect_communities(rings)
    from_sets = function(rings, [set(part) for part in partition], backend="networkx")
    assert function(rings, partition, backend=backend) == pytest.approx(from_sets)


def test_results_pass_to_functions_of_one_community_and_of_the_quotient(rings):
    partition = kg.detect_communities(rings)
    assert nx.conductance(rings, partition[0]) == nx.conductance(rings, set(partition[0]))
    quotient = nx.quotient_graph(rings, partition)
    assert quotient.number_of_nodes() == 6
    bisection = nx.community.kernighan_lin_bisection(
        nx.ring_of_cliques(2, 4), partition=kg.detect_communities(nx.ring_of_cliques(2, 4)), seed=1
    )
    assert sizes(bisection) == [4, 4]


def weighted_igraph():
    g = igraph.Graph.Famous("Zachary")
    g.vs["name"] = [f"member {v}" for v in range(34)]
    g.es["weight"] = [1.0 + e % 3 for e in range(g.ecount())]
    return g


def test_an_igraph_clustering_with_names_and_weights():
    g = weighted_igraph()
    partition = kg.detect_communities(g)
    clustering = partition.to_igraph(g)
    assert isinstance(clustering, igraph.VertexClustering)
    assert clustering.graph is g
    assert sizes(clustering) == sizes(partition)
    weighted = kg.scoring.modularity(g, partition)
    assert clustering.modularity == pytest.approx(weighted)
    assert g.modularity(clustering, weights="weight") == pytest.approx(weighted)
    assert g.modularity(clustering) == pytest.approx(
        kg.scoring.modularity(g, partition, weight=None)
    )


def test_an_igraph_clustering_passes_to_the_functions_of_igraph():
    g = weighted_igraph()
    clustering = kg.detect_communities(g).to_igraph(g)
    other = g.community_multilevel(weights="weight")
    assert igraph.compare_communities(clustering, other, method="nmi") == pytest.approx(
        kg.metrics.nmi(clustering.membership, other.membership)
    )
    assert igraph.compare_communities(clustering, clustering, method="vi") == pytest.approx(0)
    contracted = clustering.cluster_graph(combine_vertices="first", combine_edges="sum")
    assert contracted.vcount() == len(clustering)
    assert sum(contracted.es["weight"]) == pytest.approx(
        sum(g.es[e]["weight"] for e in range(g.ecount()) if clustering.crossing()[e])
    )
    assert clustering.giant().vcount() == max(clustering.sizes())
    assert clustering.giant().vs["name"][0].startswith("member")


def test_an_igraph_clustering_can_be_plotted():
    import matplotlib.pyplot as plt

    g = weighted_igraph()
    clustering = kg.detect_communities(g).to_igraph(g)
    figure, ax = plt.subplots()
    igraph.plot(clustering, target=ax, layout=g.layout_circle(), mark_groups=True)
    assert len(ax.get_children()) > len(clustering)
    plt.close(figure)


def test_a_graph_of_another_package_becomes_an_igraph_clustering():
    G = nx.les_miserables_graph()
    clustering = kg.detect_communities(G).to_igraph()
    assert set(clustering.graph.vs["name"]) == set(G)
    assert sum(clustering.graph.es["weight"]) == G.size("weight")
    assert clustering.modularity == pytest.approx(
        nx.community.modularity(G, list(kg.detect_communities(G)))
    )


def test_a_symmetric_csr_array_comes_back_as_labels_in_its_own_order():
    A = sparse.csr_array(nx.to_scipy_sparse_array(nx.ring_of_cliques(5, 6), dtype=float))
    before = A.copy()
    labels = kg.detect_communities(A).labels
    assert labels.shape == (30,)
    assert sorted(np.bincount(labels)) == [6] * 5
    assert (before != A).nnz == 0


def karate_matrix(kind, dtype, weight):
    A = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=weight, dtype=float)
    parts = (A.data.astype(dtype), A.indices.astype(np.int32), A.indptr.astype(np.int32))
    return kind(parts, shape=A.shape)


def test_a_symmetric_csr_array_is_not_copied():
    A = karate_matrix(sparse.csr_array, float, "weight")
    graph = kg.as_graph(A)
    for ours, theirs in (
        (graph.indptr, A.indptr),
        (graph.indices, A.indices),
        (graph.weights, A.data),
    ):
        assert np.shares_memory(ours, theirs)
        assert not ours.flags.writeable
        assert theirs.flags.writeable


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_the_pattern_of_other_number_types_is_not_copied_either(kind, dtype):
    A = karate_matrix(kind, dtype, None)
    graph = kg.as_graph(A)
    assert np.shares_memory(graph.indices, A.indices)
    assert graph.weights is None


def test_what_must_be_tidied_is_copied_and_left_as_it_was():
    data, rows, columns = [1.0, 2.0, 1.0, 2.0, 0.0], [0, 0, 1, 1, 2], [1, 1, 0, 0, 2]
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=3))])
    A = sparse.csr_array((np.array(data)[order], np.array(columns)[order], indptr), shape=(3, 3))
    graph = kg.as_graph(A)
    assert graph.weights.tolist() == [3.0, 3.0]
    assert A.nnz == 5
    assert A.data.tolist() == data


def test_room_behind_the_last_entry_is_not_read():
    A = sparse.csr_array((np.ones(4), np.array([1, 0, 7, 7]), np.array([0, 1, 2])), shape=(2, 2))
    assert kg.as_graph(A).m == 1
