"""Kernel k-groups and kernel k-means as estimators of scikit-learn."""

from kgroups.errors import MissingExtraError

try:
    import sklearn  # noqa: F401
except ImportError as error:
    msg = 'the estimators need scikit-learn. Install it with: pip install "kgroups[sklearn]"'
    raise MissingExtraError(msg) from error

from kgroups.backends.sklearn.estimators import KernelKGroups, KernelKMeans

__all__ = ["KernelKGroups", "KernelKMeans"]
