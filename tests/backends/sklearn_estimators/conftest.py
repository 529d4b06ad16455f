"""Points that the tests of the estimators share."""

import numpy as np
import pytest


@pytest.fixture
def blobs():
    """Return 90 points, of which every third belongs to one group."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    return centers[np.arange(90) % 3] + 0.5 * rng.normal(size=(90, 2))
