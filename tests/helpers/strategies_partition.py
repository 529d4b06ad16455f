"""Draws of node names and partitions."""

from hypothesis import strategies as st

from kgroups.partition import Partition

whole_numbers = st.integers(-(2**70), 2**70)
plain_names = st.one_of(
    st.none(), st.booleans(), whole_numbers, st.floats(allow_nan=False), st.text(max_size=5)
)
names = st.recursive(
    plain_names, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4
)
table_names = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12, unique=True),
    st.lists(st.text(max_size=6), max_size=12, unique=True),
)


@st.composite
def partitions(draw, nodes=None):
    """A partition of up to a dozen nodes with labels that leave gaps."""
    drawn = draw(st.lists(names, max_size=12, unique=True) if nodes is None else nodes)
    labels = draw(st.lists(st.integers(-2, 4), min_size=len(drawn), max_size=len(drawn)))
    return Partition(labels, drawn)
