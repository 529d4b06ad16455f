"""The canonical order: the same whatever the input order, or said to be the input's."""

import numpy as np
import pytest

from helpers.ids import stable_id
from kgroups.graph import Graph, canonical_order

NAN = float("nan")


def order_of(names):
    return canonical_order(Graph.from_edges([], [], nodes=names))


def test_nodes_without_names_keep_their_index():
    assert canonical_order(Graph.from_edges([], [], n=3)) == (None, "index")


@pytest.mark.parametrize("names", [[1, 5, 7], ["a", "b"], [(0, 1), (1, 0)], [1, 2.5, 3], []])
def test_names_in_order_need_no_permutation(names):
    assert order_of(names) == (None, "sorted names")


@pytest.mark.parametrize(
    "names",
    [
        [10, 9, 2],
        [10, 2.5, -1],
        [2**80, 1, 2**79],
        ["b", "B", "a", "é"],
        [b"b", b"a"],
        [(1, "x"), (0, "z"), (1, "a")],
        [np.int64(5), 4, True],
    ],
)
def test_names_are_sorted(names):
    order, how = order_of(names)
    assert how == "sorted names"
    assert [names[i] for i in order] == sorted(names)


@pytest.mark.parametrize(
    "names",
    [
        [1, "a"],
        ["a", 1, None],
        [frozenset({2}), frozenset({1}), frozenset({1, 2})],
        [frozenset({1}), frozenset({1, 2}), frozenset({2})],
        [2.0, NAN, 1.0],
        [(1, "a"), (1, 2)],
        [object(), object()],
        [1 + 2j, 1 + 1j],
    ],
    ids=stable_id,
)
def test_names_without_one_order_keep_the_order_of_the_input(names):
    assert order_of(names) == (None, "input order")


def test_sets_that_form_a_chain_have_one_order():
    order, how = order_of([frozenset({1, 2}), frozenset({1})])
    assert (order.tolist(), how) == ([1, 0], "sorted names")
