"""Pairs and triples of labelings of the same nodes."""

from hypothesis import strategies as st


@st.composite
def labelings(draw, how_many=2, *, min_nodes=0, max_nodes=40, max_groups=40):
    """Draw labelings of one length, from one group to all nodes alone."""
    n = draw(st.integers(min_nodes, max_nodes))
    result = []
    for _ in range(how_many):
        k = draw(st.integers(1, min(max_groups, max(n, 1))))
        result.append(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    return tuple(result)
