"""Kernel k-groups and kernel k-means of points, and communities of graphs, for scikit-learn.

``from kgroups.sklearn import KernelKGroups`` needs scikit-learn, the extra ``sklearn``.
"""

from kgroups._extras import install_hint
from kgroups.errors import MissingExtraError

try:
    import sklearn.base  # noqa: F401
except ImportError as error:
    msg = f"kgroups.sklearn needs scikit-learn, the extra 'sklearn'.\n  {install_hint('sklearn')}"
    raise MissingExtraError(msg) from error

from kgroups.sklearn.graphs import GraphKGroups
from kgroups.sklearn.points import KernelKGroups, KernelKMeans

__all__ = ["GraphKGroups", "KernelKGroups", "KernelKMeans"]
