"""What is compiled ahead is what conversions of large graphs use."""

import igraph
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse

from kgroups import _symmetric_csr_nb
from kgroups.adapters import _numbering_nb, as_graph, compile_kernels
from kgroups.graph import Graph

pytestmark = pytest.mark.compiled


def compiled():
    kernels = [
        getattr(module, name)
        for module in (_symmetric_csr_nb, _numbering_nb)
        for name in module.__all__
    ]
    return {kernel.__name__: len(kernel.compiled().signatures) for kernel in kernels}


def test_nothing_is_left_to_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("KGROUPS_JIT", "always")
    compile_kernels()
    Graph.from_edges([0], [1]).permuted(np.array([1, 0]))
    before = compiled()
    assert min(before.values()) > 0
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 500, (2, 40_000))
    ring = igraph.Graph.Ring(40_000)
    as_graph(ring)
    ring.es["weight"] = rng.random(40_000).tolist()
    as_graph(ring)
    for weights in ({}, {"weight": rng.random(40_000)}):
        for names in ((u, v), (u * 2**40, v * 2**40), (u.astype("U9"), v.astype("U9"))):
            columns = {"source": names[0], "target": names[1], **weights}
            np.savez(tmp_path / "a.npz", **columns)
            graph = as_graph(tmp_path / "a.npz")
            pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
            as_graph(tmp_path / "a.parquet")
            graph.permuted(rng.permutation(graph.n))
            assert graph.n_loops > 0
        sparse.save_npz(tmp_path / "a.npz", graph.to_scipy())
        as_graph(tmp_path / "a.npz")
    assert compiled() == before
