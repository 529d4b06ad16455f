"""Levels of any labels: shares against counting by hand, and the nested view."""

from collections import Counter
from itertools import pairwise

import networkx as nx
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage

import kgroups as kg
from kgroups.partition import Levels, Partition

N = 16
LABELS = st.lists(st.integers(0, 7), min_size=N, max_size=N)
# Two components, so that communities may span them.
GRAPH = kg.as_graph(nx.disjoint_union(nx.cycle_graph(10), nx.complete_graph(6)))


@st.composite
def many_levels(draw):
    """Levels with labels that need not have anything to do with each other."""
    drawn = [Partition(labels, graph=GRAPH) for labels in draw(st.lists(LABELS, min_size=1))]
    chosen = {partition.k: partition for partition in drawn}
    levels = [chosen[k] for k in sorted(chosen, reverse=True)]
    returned = draw(st.integers(0, len(levels) - 1))
    return Levels(levels, [float(level.k) for level in levels], returned=returned)


@given(many_levels())
def test_parents_agree_with_counting(levels):
    for level, (fine, coarse) in enumerate(pairwise(levels)):
        parents = levels.parents(level)
        assert len(parents.parent) == len(parents.share) == fine.k
        for a, community in enumerate(fine):
            counts = Counter(coarse.membership[node] for node in community)
            most = max(counts.values())
            assert parents.share[a] == most / len(community)
            # Communities are numbered by size: the largest of those that hold as many.
            assert parents.parent[a] == min(b for b, count in counts.items() if count == most)


@given(many_levels())
def test_the_nested_view_is_nested_and_keeps_the_finest_level(levels):
    nested = levels.nested()
    assert nested[0] is levels[0]
    assert len(nested) <= len(levels)
    for fine, coarse in pairwise(nested):
        assert all(any(one <= other for other in coarse) for one in fine)
        assert coarse.k < fine.k
    assert nested.nested().k == nested.k
    assert 0 <= nested.returned <= levels.returned


@given(many_levels())
def test_a_dendrogram_joins_all_leaves(levels):
    assume(levels[0].k > 1)
    Z = levels.dendrogram()
    assert is_valid_linkage(Z, throw=True)
    assert Z[-1, 3] == levels[0].k
    heights = [count for _, count in sorted(Counter(Z[:, 2]).items())]
    ks = [*levels.nested().k, 1]
    assert heights == [fine - coarse for fine, coarse in pairwise(ks) if fine > coarse]
