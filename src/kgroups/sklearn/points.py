"""Kernel k-groups and kernel k-means of points as estimators of scikit-learn."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kgroups._doors import check_count
from kgroups._types import Floats, Ints
from kgroups.energy.arguments import NAMED_METRICS, MetricLike, is_matrix
from kgroups.energy.clustering import GRAM_MEMORY, Clustering, kernel_kgroups, kernel_kmeans
from kgroups.energy.kernels import check_not_negative, rounding_of
from kgroups.energy.semimetrics import Power
from kgroups.energy.weights import as_weights
from kgroups.errors import InputError, NumberOfCommunitiesError
from kgroups.sklearn.estimator import Clusterer, as_generator, validate_data

__all__ = ["KernelKGroups", "KernelKMeans"]


class _KernelClusterer(Clusterer):
    """What both estimators share: all but the function that moves the points."""

    _named: ClassVar = {"metric": NAMED_METRICS}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: MetricLike = Power(1.0),
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
        gram_memory: float = GRAM_MEMORY,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.gram_memory = gram_memory

    @abstractmethod
    def _clustering(self, X: Any, **options: Any) -> Clustering:
        """Cluster the rows of X."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the groups of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; with ``metric="precomputed"`` their semimetric and with ``metric="gram"``
            their Gram matrix, of shape (n_samples, n_samples).
        y : object
            Not used; here because every estimator has it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0, by default 1 each. A sample of weight 0 does not count and gets the
            label that :meth:`predict` gives it.

        Returns
        -------
        self
        """
        X = _validated(self, X, reset=True)
        weights = as_weights(sample_weight, X.shape[0])
        self._check_counts(weights)
        if self._takes_distances():
            # The checks of scikit-learn ask for these words.
            what = f"Negative values in data passed to {type(self).__name__}: distances"
            check_not_negative(X, rounding_of(X), what)
        found = self._clustering(
            X,
            metric=self.metric,
            sample_weight=weights,
            init=self.init,
            n_init=self.n_init,
            max_sweeps=self.max_iter,
            rng=as_generator(self.random_state),
            gram_memory=self.gram_memory,
        )
        self.labels_ = found.labels
        self.objective_ = found.objective
        self.within_energy_ = found.within_energy
        self.n_iter_ = found.sweeps
        self.converged_ = found.converged
        self.metric_ = found.metric
        self._fitted = found
        if not found.converged:
            msg = (
                f"{type(self).__name__} still moved points in its last pass of {self.max_iter}: "
                "its groups are not a local optimum. Raise max_iter."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Ints:
        """Return the group whose mean in feature space is nearest, for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points; with ``metric="precomputed"`` or ``"gram"``, their semimetric or kernel
            with all samples fitted, one column for each.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "labels_")
        return self._fitted.predict(_validated(self, X, reset=False))

    def _check_counts(self, weights: Floats) -> None:
        """Raise with the parameter names of scikit-learn, before a function raises with its own."""
        for name in ("n_clusters", "n_init", "max_iter"):
            error = NumberOfCommunitiesError if name == "n_clusters" else InputError
            check_count(name, getattr(self, name), error=error)
        counted = int(np.count_nonzero(weights))
        if self.n_clusters > counted:
            less = f", {counted} of positive weight" if counted < weights.size else ""
            msg = (
                f"n_clusters must not exceed the number of samples, got n_clusters="
                f"{self.n_clusters} for n_samples={weights.size}{less}."
            )
            raise NumberOfCommunitiesError(msg)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._takes_matrices()
        tags.input_tags.positive_only = self._takes_distances()
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Return the tags in the form of scikit-learn 1.5."""
        return {
            "pairwise": self._takes_matrices(),
            "requires_positive_X": self._takes_distances(),
        }

    def _takes_matrices(self) -> bool:
        return is_matrix(self.metric)

    def _takes_distances(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"


class KernelKGroups(_KernelClusterer):
    r"""Group samples so that their distributions differ most, by Hartigan's moves.

    Samples move one at a time while the within-energy dispersion

    .. math:: W = \sum_a \frac{1}{2 s_a} \sum_{i, j \in a} w_i w_j \rho(x_i, x_j)

    of the groups falls; s is the weight of a group.

    Parameters
    ----------
    n_clusters : int
        Number of groups.
    metric : Semimetric, str or callable
        The semimetric :math:`\rho`: ``Power(alpha)``, ``Exponential(sigma)`` or
        ``Gaussian(sigma)`` of :mod:`kgroups.energy`, or a function of two samples. By name:
        ``"euclidean"``, ``"sqeuclidean"``, ``"exponential"`` or ``"gaussian"``, the last two with
        ``sigma="median"``. For a matrix of all pairs in place of samples, ``"precomputed"`` if it
        holds :math:`\rho` and ``"gram"`` if it holds the kernel. Fields of the semimetric are
        parameters too, such as ``metric__sigma``.
    init : {"k-means++", "spectral", "random"} or array-like of n_samples labels
        Centers drawn far apart in feature space, groups of the leading eigenvectors, groups by
        chance, or labels in ``range(n_clusters)`` to start from.
    n_init : int
        Number of starts, of which the best counts; ``"spectral"`` and labels are one start.
    max_iter : int
        Passes over the samples after which a start ends.
    random_state : int, RandomState or None
        Draws the starts and the order of visits.
    gram_memory : float
        Bytes up to which the matrix of all pairs is kept. Beyond, its rows are made when needed.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Group of each sample.
    objective_ : float
        Group association Q of the groups in feature space; larger is better.
    within_energy_ : float
        Within-energy dispersion W; smaller is better.
    n_iter_ : int
        Passes over the samples in the best start.
    converged_ : bool
        Whether the last of them moved no sample.
    metric_ : Semimetric or str
        The semimetric, with the number that ``sigma="median"`` became.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    See Also
    --------
    KernelKMeans : The same groups sought with moves to the nearest mean.
    kgroups.energy.kernel_kgroups : The same as a function, without scikit-learn.

    Notes
    -----
    There is no ``score``: energies of different semimetrics cannot be compared, so a search over
    ``metric`` must say what it wants by ``scoring``.

    Neither the order of the samples nor whether equal samples come as copies or as one with a
    weight changes the groups. There are two exceptions: if labels or a matrix are given, and if
    there are fewer distinct samples than groups. In the latter case equal samples are put into
    different groups, and their order decides which.

    Examples
    --------
    >>> X = [[0.0, 0.1], [0.1, 0.0], [4.0, 4.1], [4.2, 4.0], [4.1, 4.2]]
    >>> model = KernelKGroups(2, metric=Power(0.5), random_state=0).fit(X)
    >>> model.labels_
    array([1, 1, 0, 0, 0])
    >>> model.predict([[3.0, 3.0]])
    array([0])
    """

    def _clustering(self, X: Any, **options: Any) -> Clustering:
        return kernel_kgroups(X, self.n_clusters, **options)


class KernelKMeans(_KernelClusterer):
    """Group samples by sending each to the nearest mean in feature space, one at a time.

    This is the algorithm of Lloyd with means that follow every move exactly. It stops at more
    local optima than :class:`KernelKGroups`, which has the same parameters, attributes and
    objective.

    See Also
    --------
    KernelKGroups : The same groups sought with the moves that gain most.
    kgroups.energy.kernel_kmeans : The same as a function, without scikit-learn.

    Examples
    --------
    >>> X = [[0.0, 0.1], [0.1, 0.0], [4.0, 4.1], [4.2, 4.0], [4.1, 4.2]]
    >>> KernelKMeans(2, random_state=0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    def _clustering(self, X: Any, **options: Any) -> Clustering:
        return kernel_kmeans(X, self.n_clusters, **options)


def _validated(estimator: Any, X: Any, *, reset: bool) -> Floats:
    """Return X as a table of finite floats; with ``reset`` its columns become those to expect."""
    table: Floats = validate_data(estimator, X, reset=reset, dtype=np.float64)
    return table
