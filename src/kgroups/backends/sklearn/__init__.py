"""Estimators for scikit-learn: kernel k-groups and kernel k-means, and communities of graphs.

``from kgroups.backends.sklearn import KernelKGroups`` needs scikit-learn, the extra ``sklearn``.
"""

from kgroups._wording import install_hint
from kgroups.errors import MissingExtraError

try:
    import sklearn.base  # noqa: F401
except ImportError as error:
    msg = (
        "kgroups.backends.sklearn needs scikit-learn, the extra 'sklearn'.\n"
        f"  {install_hint('sklearn')}"
    )
    raise MissingExtraError(msg) from error

from kgroups.backends.sklearn.estimators import GraphKGroups, KernelKGroups, KernelKMeans

__all__ = ["GraphKGroups", "KernelKGroups", "KernelKMeans"]
