"""Points, semimetrics of negative type, and distances with rounding errors."""

import numpy as np
from hypothesis import strategies as st

from kgroups.energy import Exponential, Gaussian, Power


@st.composite
def point_sets(draw, min_points=1, max_points=24):
    """Draw points of few or many columns, of any size, some of them equal, some on a lattice."""
    n = draw(st.integers(min_points, max_points))
    d = draw(st.sampled_from([1, 2, 3, 31, 32, 50]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(2 * X)
    if draw(st.booleans()):
        X = X[rng.integers(n, size=n)]
    offset = draw(st.sampled_from([0.0, 1.0, -30.0]))
    return (X + offset) * draw(st.sampled_from([1e-3, 1.0, 1e4]))


@st.composite
def semimetrics(draw):
    """Draw a semimetric of negative type, from each of the three families."""
    width = st.floats(0.05, 50.0)
    return draw(
        st.one_of(
            st.floats(0.05, 2.0).map(Power),
            st.sampled_from([Power(0.5), Power(1), Power(2)]),
            width.map(Exponential),
            width.map(Gaussian),
        )
    )


def squared_distances_by_products(X):
    """Return squared distances with an error as squared lengths and products leave it.

    The size of that error is given by the precision; its sign depends on the machine, and is
    negative here.
    """
    gaps, squares = X[:, None] - X, (X * X).sum(axis=1)
    return (gaps * gaps).sum(axis=2) - np.finfo(X.dtype).eps * squares.max()
