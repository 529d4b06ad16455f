"""A store of any small list of edges holds what is read in memory, for any division into blocks."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgroups as kg
from helpers.stores import assert_same, opened, small_sizes, write_parquet

NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=3)
# Sums of these are exact.
WEIGHTS = st.one_of(st.integers(0, 3).map(float), st.sampled_from([0.25, 0.5, 1.5]))


def edges_of(names):
    return st.lists(st.tuples(names, names, WEIGHTS), max_size=30)


@given(
    edges=st.one_of(edges_of(NUMBERS), edges_of(TEXTS)),
    weighted=st.booleans(),
    block_entries=st.integers(1, 20),
    piece=st.integers(1, 20),
    most_slots=st.sampled_from([1, 1000]),
)
def test_a_store_holds_any_edges(edges, weighted, block_entries, piece, most_slots):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        small_sizes(patch, piece=piece, most_slots=most_slots)
        u, v, w = (list(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
        kind = pa.string() if edges and isinstance(u[0], str) else pa.int64()
        weights = pa.array(w, pa.float64()) if weighted else None
        path = Path(folder, "e.parquet")
        write_parquet(path, pa.array(u, kind), pa.array(v, kind), weights)
        stored = opened(path, Path(folder, "store"), block_entries=block_entries)
        if edges:
            assert_same(stored, kg.as_graph(path))
        assert stored.m == len(edges)
