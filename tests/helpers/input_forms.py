"""One graph in every kind of input, and every public function that takes a graph."""

import igraph
import networkx as nx
import pandas as pd
import pyarrow as pa
import pytest

import kgroups as kg

TRIANGLES = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "x"), ("x", "y"), ("y", "z"), ("z", "x")]
EXPECTED = {frozenset("abc"), frozenset("xyz")}


def one_community(G):
    return [set(kg.as_graph(G, weight=None, symmetrize="sum").nodes)]


PUBLIC_FUNCTIONS = {
    "detect_communities": kg.detect_communities,
    "detect_communities with k": lambda G, **options: kg.detect_communities(G, 2, **options),
    "estimate_k": kg.estimate_k,
    "refine_partition": lambda G, **options: kg.refine_partition(G, one_community(G), **options),
    "modularity": lambda G, **options: kg.scoring.modularity(G, one_community(G), **options),
    "scores": lambda G, **options: kg.scoring.scores(G, one_community(G), **options),
    "conductance": lambda G, **options: kg.scoring.conductance(G, one_community(G), **options),
    "as_graph": kg.as_graph,
    "BetheHessian.matrix": lambda G, **options: kg.BetheHessian().matrix(G, **options),
}
every_public_function = pytest.mark.parametrize(
    "function", PUBLIC_FUNCTIONS.values(), ids=PUBLIC_FUNCTIONS
)


def networkx_of(edges, kind=nx.Graph):
    G = kind()
    for u, v, *weight in edges:
        G.add_edge(u, v, **({"weight": weight[0]} if weight else {}))
    return G


def igraph_of(edges):
    names = list(dict.fromkeys(end for edge in edges for end in edge[:2]))
    g = igraph.Graph(n=len(names), edges=[(names.index(e[0]), names.index(e[1])) for e in edges])
    g.vs["name"] = names
    if len(edges[0]) == 3:
        g.es["weight"] = [edge[2] for edge in edges]
    return g


def columns_of(edges):
    return dict(
        zip(("source", "target", "weight"), map(list, zip(*edges, strict=True)), strict=False)
    )


NAMED_FORMS = {
    "networkx": networkx_of,
    "networkx multigraph": lambda edges: networkx_of(edges, nx.MultiGraph),
    "networkx view": lambda edges: networkx_of(edges).subgraph({e for ed in edges for e in ed[:2]}),
    "igraph": igraph_of,
    "arrays": lambda edges: tuple(columns_of(edges).values()),
    "edge tuples": list,
    "networkx edges": lambda edges: networkx_of(edges, nx.MultiGraph).edges,
    "dict of dicts": lambda edges: nx.to_dict_of_dicts(networkx_of(edges, nx.MultiGraph)),
    "pandas": lambda edges: pd.DataFrame(columns_of(edges)),
    "pyarrow": lambda edges: pa.table(columns_of(edges)),
}
every_named_form = pytest.mark.parametrize("form", NAMED_FORMS.values(), ids=NAMED_FORMS)
SPARSE_FORMATS = ["csr", "csc", "coo", "bsr", "dok", "lil", "dia"]
