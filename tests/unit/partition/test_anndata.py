"""AnnData in and out: the neighbor graph of cells, and communities as columns of ``obs``."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import kgroups as kg
from kgroups.errors import GraphError, PartitionError


class AnnData:
    """What kgroups uses of an AnnData, where the package is not installed."""

    __module__ = "anndata._core.anndata"

    def __init__(self, X, obs):
        self.X, self.obs, self.obsp = X, obs, {}

    @property
    def obs_names(self):
        return self.obs.index

    def __getitem__(self, rows):
        part = AnnData(self.X[rows], self.obs.iloc[rows].copy())
        part.obsp = {key: matrix[rows][:, rows] for key, matrix in self.obsp.items()}
        return part


@pytest.fixture(params=["stand-in", "anndata"])
def kind(request):
    return AnnData if request.param == "stand-in" else pytest.importorskip("anndata").AnnData


@pytest.fixture
def cells(kind):
    """Four groups of eight cells in two pairs, in mixed order."""
    G = nx.disjoint_union_all([nx.complete_graph(8)] * 4)
    G.add_weighted_edges_from(
        [(7, 8, 1.0), (6, 9, 1.0), (23, 24, 1.0), (22, 25, 1.0), (15, 16, 0.5)]
    )
    order = np.random.default_rng(3).permutation(32)
    obs = pd.DataFrame(index=[f"cell{i}" for i in order])
    adata = kind(np.zeros((32, 1), np.float32), obs)
    matrix = sparse.csr_matrix(nx.to_numpy_array(G)[np.ix_(order, order)])
    adata.obsp["connectivities"] = matrix
    return adata


def as_networkx(adata):
    G = nx.from_scipy_sparse_array(adata.obsp["connectivities"])
    return nx.relabel_nodes(G, dict(enumerate(adata.obs_names)))


def test_cells_are_nodes_and_connectivities_are_weights(cells):
    graph = kg.as_graph(cells)
    assert graph.nodes == tuple(cells.obs_names)
    assert np.array_equal(graph.to_scipy().toarray(), cells.obsp["connectivities"].toarray())
    assert kg.as_graph(cells, weight=None).weights is None
    assert kg.detect_communities(cells) == kg.detect_communities(as_networkx(cells))


def test_another_matrix_is_named_by_its_key(cells):
    cells.obsp["shared"] = (cells.obsp["connectivities"] * 2).toarray()
    doubled = kg.as_graph(cells, weight="shared")
    assert doubled.degrees.tolist() == (2 * kg.as_graph(cells).degrees).tolist()
    with pytest.raises(GraphError, match=r"obsp\['other'\], got the keys 'connectivities', 'shar"):
        kg.as_graph(cells, weight="other")


def test_cells_without_neighbors_are_refused_with_a_way_on(kind):
    adata = kind(np.zeros((2, 1), np.float32), pd.DataFrame(index=["a", "b"]))
    message = r"obsp\['connectivities'\], got the keys none\.\n.*sc\.pp\.neighbors\(adata\)"
    with pytest.raises(GraphError, match=message):
        kg.detect_communities(adata)


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_names_of_cells_must_differ(cells, kind):
    obs = pd.DataFrame(index=["a"] * 32)
    adata = kind(np.zeros((32, 1), np.float32), obs)
    adata.obsp["connectivities"] = cells.obsp["connectivities"]
    with pytest.raises(GraphError, match=r"'a' more than once in adata\.obs_names; .*make_unique"):
        kg.detect_communities(adata)


def test_communities_become_a_categorical_column(cells):
    partition = kg.detect_communities(cells, 4)
    partition.annotate(cells, "kgroups")
    column = cells.obs["kgroups"]
    assert list(column.cat.categories) == ["0", "1", "2", "3"]
    assert column.astype(int).to_dict() == partition.membership
    assert list(cells.obs) == ["kgroups"]


def test_levels_become_columns_if_they_were_computed(kind):
    team = np.arange(12)
    inside, near = team[:, None] == team, team[:, None] // 3 == team // 3
    P = np.where(inside, 0.4, np.where(near, 0.08, 0.01))
    graph, _ = kg.generators.stochastic_block_model([40] * 12, P, rng=0)
    cells = kind(np.zeros((480, 1), np.float32), pd.DataFrame(index=[f"c{i}" for i in range(480)]))
    cells.obsp["connectivities"] = sparse.csr_matrix(graph.to_scipy())
    partition = kg.detect_communities(cells)
    levels = partition.levels()
    partition.annotate(cells, "kgroups")
    assert len(levels) > 1
    assert list(cells.obs) == ["kgroups", *(f"kgroups_{name}" for name in levels.names)]
    for name, level in zip(levels.names, levels, strict=True):
        column = cells.obs[f"kgroups_{name}"]
        assert column.astype(int).to_dict() == level.membership
        assert list(column.cat.categories) == [str(a) for a in range(level.k)]


def test_cells_are_found_by_name(cells):
    partition = kg.detect_communities(cells, 4)
    backwards = cells[np.arange(32)[::-1]]
    backwards = backwards.copy() if hasattr(backwards, "copy") else backwards
    partition.annotate(backwards)
    assert backwards.obs["community"].astype(int).to_dict() == partition.membership
    part = cells[np.arange(10)]
    with pytest.raises(PartitionError, match="Only in the partition: 'cell"):
        partition.annotate(part)
