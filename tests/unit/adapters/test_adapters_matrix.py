"""Matrices in: formats, symmetry, and copies that the caller cannot change."""

import numpy as np
import pytest
from scipy import sparse

from kgroups.adapters import as_graph
from kgroups.errors import GraphError, WeightError

TRIANGLE = np.array([[0, 1, 2], [1, 0, 0], [2, 0, 3]])


@pytest.mark.parametrize(
    "matrix",
    [
        TRIANGLE,
        TRIANGLE.astype(np.int8),
        TRIANGLE.astype(np.float32),
        TRIANGLE.astype(object),
        np.asfortranarray(TRIANGLE),
        sparse.csr_array(TRIANGLE),
        sparse.csc_matrix(TRIANGLE),
        sparse.lil_array(TRIANGLE),
    ],
    ids=lambda matrix: f"{type(matrix).__name__} {matrix.dtype}",
)
def test_entries_are_weights_and_the_diagonal_is_loops(matrix):
    graph = as_graph(matrix)
    assert graph.to_scipy().toarray().tolist() == TRIANGLE.tolist()
    assert (graph.m, graph.n_loops, graph.nodes) == (3, 1, range(3))
    assert as_graph(matrix, weight=None).weights is None


def test_numpy_matrix_comes_in():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(TRIANGLE)
    assert as_graph(matrix).to_scipy().toarray().tolist() == TRIANGLE.tolist()


def test_boolean_matrices_are_unweighted():
    assert as_graph(TRIANGLE > 0).weights is None
    assert as_graph(sparse.csr_array(TRIANGLE > 0)).weights is None


def test_stored_zeros_are_no_edges_and_repeated_entries_are_added():
    rows, columns = [0, 1, 0, 0, 1, 2], [1, 0, 1, 2, 0, 0]
    entries = np.array([100, 100, 100, 0, 100, 0], np.uint8)
    matrix = sparse.coo_array((entries, (rows, columns)), shape=(3, 3))
    graph = as_graph(matrix)
    assert graph.m == 1
    assert graph.weights.tolist() == [200, 200]


@pytest.mark.parametrize("kind", [sparse.csc_array, np.array])
def test_later_changes_of_the_matrix_do_not_reach_the_graph(kind):
    matrix = kind(TRIANGLE.astype(float))
    graph = as_graph(matrix)
    matrix *= 7
    assert graph.to_scipy().toarray().tolist() == TRIANGLE.tolist()


def test_unsorted_rows_are_left_as_they_are_in_the_matrix_of_the_caller():
    matrix = sparse.csr_array(([1.0, 1.0, 1.0, 1.0], [2, 1, 0, 0], [0, 2, 3, 4]), shape=(3, 3))
    assert as_graph(matrix).indices.tolist() == [1, 2, 0, 0]
    assert matrix.indices.tolist() == [2, 1, 0, 0]


@pytest.mark.parametrize(
    "size", [3, pytest.param(3000, marks=pytest.mark.compiled)], ids=["few", "many"]
)
@pytest.mark.parametrize("symmetrize", [None, "sum", "union"])
def test_rows_reordered_in_place_after_scipy_called_them_sorted_are_read_rightly(size, symmetrize):
    ring = np.arange(size)
    ends = np.r_[ring, (ring + 1) % size], np.r_[(ring + 1) % size, ring]
    matrix = sparse.csr_array((np.tile(1.0 + ring, 2), ends), shape=(size, size))
    expected = as_graph(matrix, symmetrize=symmetrize).to_scipy()
    assert matrix.has_canonical_format
    for array in (matrix.indices, matrix.data):
        array[:] = array.reshape(-1, 2)[:, ::-1].ravel()
    graph = as_graph(matrix, symmetrize=symmetrize)
    assert (graph.to_scipy() != expected).nnz == 0
    assert np.all(np.diff(graph.indices.reshape(-1, 2)) > 0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"must be square, got shape \(2, 3\)"),
        (np.ones((5, 2)), r"If the rows are edges, pass \(edges\[:, 0\], edges\[:, 1\]\) instead"),
        (np.ones(3), r"must be square, got shape \(3,\)"),
        (np.ones((2, 2, 2)), r"must be square, got shape \(2, 2, 2\)"),
        (sparse.csr_array(np.ones((2, 4))), r"must be square, got shape \(2, 4\)"),
        (np.eye(2) * 1j, "must hold real numbers, got dtype complex128"),
        (sparse.csr_array(np.eye(2) * 1j), "must hold real numbers, got dtype complex128"),
        (np.array([["a", "b"], ["c", "d"]]), "must hold real numbers, got dtype <U1"),
        (np.array([["1", 0], [0, 0]], dtype=object), "must hold real numbers, got dtype object"),
        (np.ma.masked_array(np.eye(2), mask=np.eye(2)), "must not be a masked array"),
    ],
)
def test_what_is_no_adjacency_matrix_is_refused(matrix, message):
    with pytest.raises(GraphError, match=message):
        as_graph(matrix)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_an_asymmetric_matrix_names_the_first_pair_and_the_ways_on(kind):
    matrix = kind([[0.0, 0, 2], [0, 0, 5], [2.5, 0, 1]])
    message = (
        r"must be symmetric, got 2\.0 from 0 to 2 but 2\.5 from 2 to 0 \(and 1 more pairs\)\."
        r'(.|\n)*symmetrize="sum"(.|\n)*symmetrize="union"(.|\n)*\(A \+ A\.T\) / 2'
    )
    with pytest.raises(GraphError, match=message):
        as_graph(matrix)
    summed = as_graph(matrix, symmetrize="sum").to_scipy().toarray()
    assert summed.tolist() == [[0, 0, 4.5], [0, 0, 5], [4.5, 5, 1]]
    union = as_graph(matrix, symmetrize="union")
    assert union.weights is None
    assert union.multiplicity is None
    assert union.m == 3


def test_sum_leaves_a_symmetric_matrix_as_it_is():
    assert as_graph(TRIANGLE, symmetrize="sum").to_scipy().toarray().tolist() == TRIANGLE.tolist()
    assert as_graph(TRIANGLE, symmetrize="union").weights is None


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_bad_entries_name_their_place(value, kind):
    matrix = kind([[0, 1, 0], [1, 0, value], [0, value, 0]])
    message = rf"must be finite and >= 0, got {value} on edge \(1, 2\) \(and 1 more\)"
    with pytest.raises(WeightError, match=message):
        as_graph(matrix)
    assert as_graph(matrix, weight=None).m == 2


def test_a_broken_sparse_matrix_is_refused_before_it_is_read():
    matrix = sparse.csr_array(TRIANGLE)
    matrix.indices[0] = 1_000_000
    with pytest.raises(GraphError, match="the sparse matrix is broken"):
        as_graph(matrix)


@pytest.mark.parametrize("matrix", [np.zeros((0, 0)), sparse.csr_array((0, 0))])
def test_matrices_without_rows(matrix):
    assert as_graph(matrix).n == 0
