"""Call a networkx function natively and through the kgroups backend, and compare."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy import sparse

RELATIVE = 1e-12


def outcome(function, *args, backend, **kwargs):
    """Return the result of a call, or the exception that it raised."""
    try:
        result = function(*args, backend=backend, **kwargs)
        return list(result) if isinstance(result, Iterator) else result
    except NotImplementedError:
        raise
    except Exception as error:
        return error


def assert_parity(function, *args, **kwargs):
    """Assert that both give the same result, of the same type, or raise the same error."""
    weights = {type(w) for *_, w in args[0].edges(data="weight", default=1)}
    native = outcome(function, *args, backend="networkx", **kwargs)
    ours = outcome(function, *args, backend="kgroups", **kwargs)
    assert_same(ours, native, mixed=float in weights)


def assert_declined(function, *args, **kwargs):
    """Assert that the backend leaves a call to networkx, in words."""
    with pytest.raises(NotImplementedError, match="kgroups"):
        function(*args, backend="kgroups", **kwargs)


def assert_same(ours, native, *, mixed=False):
    if isinstance(native, Exception):
        assert type(ours) is type(native), (ours, native)
    elif sparse.issparse(native):
        assert_same_matrix(ours, native)
    elif isinstance(native, np.ndarray):
        assert type(ours) is np.ndarray
        np.testing.assert_allclose(ours, native, rtol=1e-9, atol=1e-9)
    elif isinstance(native, int | float) and not isinstance(native, bool):
        # One float among the weights makes all of them floats here, of the same value.
        assert type(ours) is (float if mixed else type(native)) or type(ours) is type(native)
        assert ours == pytest.approx(native, rel=RELATIVE, abs=RELATIVE, nan_ok=True)
    elif isinstance(native, tuple):
        assert type(ours) is tuple
        for one, other in zip(ours, native, strict=True):
            assert_same(one, other)
    else:
        assert type(ours) is type(native), (ours, native)
        assert ours == native


def assert_same_matrix(ours, native):
    """Assert equal sparse arrays: format, number type, stored entries, values."""
    assert type(ours) is type(native)
    assert ours.shape == native.shape
    assert ours.dtype == native.dtype
    assert ours.nnz == native.nnz
    np.testing.assert_allclose(ours.toarray(), native.toarray(), rtol=RELATIVE, atol=RELATIVE)
