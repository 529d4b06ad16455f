"""What the versions of scikit-learn do under different names."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kgroups._types import Floats

__all__ = ["as_generator", "validated"]

try:
    from sklearn.utils.validation import validate_data
except ImportError:
    # Up to 1.5 it is a method of the estimator.
    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        return estimator._validate_data(X, **options)


def validated(estimator: Any, X: Any, *, reset: bool) -> Floats:
    """Return X as a table of finite floats; with ``reset`` its columns become those to expect."""
    table: Floats = validate_data(estimator, X, reset=reset, dtype=np.float64)
    return table


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator for what scikit-learn takes as ``random_state``.

    ``None`` draws from the global state of numpy, an instance of RandomState from itself, so
    that a second fit differs from the first, as everywhere in scikit-learn.
    """
    state = check_random_state(random_state)
    return np.random.default_rng(state.randint(np.iinfo(np.int32).max, size=4).tolist())
