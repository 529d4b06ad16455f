"""Files with edges for stores, and what their stores must be equal to."""

import re
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgroups as kg
from kgroups.blocks import detection
from kgroups.blocks.ingest import Sizes
from kgroups.graph import canonical_order


def small_sizes(monkeypatch, piece=50, most_slots=10_000):
    """Let pieces be so small that a few hundred edges make several."""

    def of(memory, block_entries=None):
        return Sizes(piece, piece, block_entries or 1 << 16, most_slots)

    monkeypatch.setattr(Sizes, "of", of)


def write_parquet(path, u, v, w=None, **options):
    columns = {"source": u, "target": v} | ({} if w is None else {"weight": w})
    pq.write_table(pa.table(columns), path, **options)
    return path


def random_edges(n=60, m=400, seed=0):
    rng = np.random.default_rng(seed)
    return *rng.integers(0, n, (2, m)), rng.random(m)


def sorted_graph(graph):
    """Return a graph in memory with its nodes in the order of their names."""
    order, _ = canonical_order(graph)
    return graph if order is None else graph.permuted(order)


def assert_same(stored, graph):
    """Check that a store holds a graph that is in memory."""
    graph, found = sorted_graph(graph), stored.to_graph()
    assert found.nodes == graph.nodes
    assert (stored.n, stored.m, stored.n_loops) == (graph.n, graph.m, graph.n_loops)
    if graph.about_weights:
        # Weights that are no multiples of the unit are rounded.
        said, expected = (re.split(r"[ ;,]+", one.about_weights) for one in (stored, graph))
        for part, same in zip(said, expected, strict=True):
            assert part == same or float(part) == pytest.approx(float(same))
    assert np.array_equal(found.indptr, graph.indptr)
    assert np.array_equal(found.indices, graph.indices)
    assert found.is_weighted == graph.is_weighted
    if graph.is_weighted:
        assert np.allclose(found.weights, graph.weights, rtol=1e-12, atol=4 * stored.unit)
    if stored.counted:
        assert (found.multiplicity is None) == (graph.multiplicity is None)
        if graph.multiplicity is not None:
            assert np.array_equal(found.multiplicity, graph.multiplicity)
    assert_consistent(stored)


def assert_consistent(stored):
    """Check what holds of every store."""
    total = 0
    for info in stored.blocks:
        block = stored.read(info.number)
        rows = info.last - info.first
        assert (block.first, block.last) == (info.first, info.last)
        assert stored.colors[info.color] <= info.first <= info.last <= stored.colors[info.color + 1]
        assert block.indptr.size == rows + 1
        assert block.indptr[0] == 0
        assert block.indptr[-1] == block.indices.size == info.entries
        row = np.repeat(np.arange(rows), np.diff(block.indptr))
        assert np.all(np.diff(row * stored.n + block.indices) > 0)
        assert not np.any(row + info.first == block.indices)
        weights = np.ones(info.entries, np.int64) if block.weights is None else block.weights
        sums = np.zeros(rows, np.int64)
        np.add.at(sums, row, weights)
        assert np.array_equal(sums, stored.strength[info.first : info.last])
        total += info.entries
    assert total == stored.entries
    assert sum(info.last - info.first for info in stored.blocks) == stored.n
    assert np.array_equal(np.sort(stored.position), np.arange(stored.n))


def checksums(stored):
    """Return the checksums of all files of a store but its record."""
    parts = [stored._files, *stored._block_files]
    return {info.name: info.checksum for part in parts for info in part.values()}


def opened(edges, folder, **options):
    return kg.open_graph(edges, store=folder, **options)


def stored(graph, folder, *, block_entries=None, files=1, seed=None):
    """Return a store of a graph in memory; with a seed the order of its edges is shuffled."""
    u, v, w = graph.edges()
    given = [u, v] + ([w] if graph.is_weighted else [])
    if seed is not None:
        rng = np.random.default_rng(seed)
        order, turned = rng.permutation(u.size), rng.random(u.size) < 0.5
        given = [
            each[order] for each in (np.where(turned, u, v), np.where(turned, v, u), *given[2:])
        ]
    folder.mkdir(exist_ok=True)
    paths = [folder / f"edges{part}.npz" for part in range(files)]
    for path, *parts in zip(paths, *(np.array_split(each, files) for each in given), strict=True):
        np.savez(path, **dict(zip(("source", "target", "weight"), parts, strict=False)))
    return opened(paths, folder / "store", block_entries=block_entries)


def in_blocks(monkeypatch):
    """Let no component be searched in memory."""
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 1e12)


def checksum(found):
    """Return a checksum of the labels of a stored partition."""
    return blake2b(found.labels.astype(np.int64).tobytes(), digest_size=8).hexdigest()
