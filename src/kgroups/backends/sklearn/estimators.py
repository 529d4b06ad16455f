"""Estimators of scikit-learn: clusters of points by their energies, and communities of graphs."""

import warnings
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kgroups._types import Ints, SelfLoops, Symmetrize
from kgroups._validation import check_integer
from kgroups._wording import Wording, worded
from kgroups.adapters import as_graph
from kgroups.detect import detect_communities
from kgroups.energy import Clustering, Power, kernel_kgroups, kernel_kmeans
from kgroups.energy.clustering import GRAM_MEMORY
from kgroups.energy.kernels import check_not_negative, rounding_of
from kgroups.energy.points import as_weights
from kgroups.energy.semimetrics import NAMED_METRICS, MetricLike, is_matrix
from kgroups.errors import GraphError, InputError, NumberOfCommunitiesError, WeightError
from kgroups.graph import Graph
from kgroups.hartigan import Hartigan, Init, KMeansInit, QRInit, Refiner, WarmStart
from kgroups.search import Auto, Method, Search, Spectral
from kgroups.spectrum import BetheHessian

try:
    from sklearn.utils.validation import validate_data
except ImportError:
    # Up to 1.5 it is a method of the estimator.
    def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
        """Check X as scikit-learn 1.6 does."""
        return estimator._validate_data(X, **options)


# Entries of a pair that differ by at most this fraction of their sum differ by rounding.
_ROUNDING = 1e-8


class _Parameters(Wording):
    """Names the parameters of the estimators in messages about arguments of functions."""

    _names: ClassVar = {
        "k": "n_clusters",
        "weight": "weighted",
        "max_sweeps": "max_iter",
        "rng": "random_state",
    }

    def argument(self, name: str) -> str:
        """Return the parameter that sets an argument."""
        return self._names.get(name, name)

    def setting(self, name: str, value: object) -> str:
        """Return the parameter with the value that corresponds to one of the argument."""
        value = value is not None if name == "weight" else value
        return super().setting(self.argument(name), value)


class _Clusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer with frozen dataclasses as parameters.

    Their fields are parameters too, such as ``metric__sigma``. Setting a field replaces the
    object, so that estimators may share one.
    """

    _named: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For parameters that may be strings, the object of each string."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether to return the fields of parameters that are value objects too, under names
            such as ``metric__sigma``.

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in self._get_param_names():
                value = self._object_of(name)
                for field in _field_names(value):
                    params[f"{name}__{field}"] = getattr(value, field)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, or fields of parameters that are value objects.

        Parameters
        ----------
        **params : dict
            Values by name, ``metric__sigma=2.0`` for a field. Whole parameters are set before
            their fields.

        Returns
        -------
        self
        """
        whole: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, delimiter, field = key.partition("__")
            if delimiter and name in self._get_param_names():
                nested[name][field] = value
            else:
                whole[key] = value
        super().set_params(**whole)
        for name, changes in nested.items():
            value, shown = self._object_of(name), getattr(self, name)
            known = _field_names(value)
            for field in changes:
                if field not in known:
                    msg = (
                        f"Invalid parameter {field!r} for {name}={shown!r}. Valid parameters are: "
                        f"{known!r}."
                    )
                    raise InputError(msg)
            changed = replace(value, **changes)
            # A string is kept if its object has not changed.
            if shown is value or changed != value:
                setattr(self, name, changed)
        return self

    @abstractmethod
    def _input_tags(self) -> dict[str, bool]:
        """Return the tags that say what kind of input the estimator takes."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name, value in self._input_tags().items():
            setattr(tags.input_tags, name, value)
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Return the tags in the form of scikit-learn 1.5."""
        tags = self._input_tags()
        return {"pairwise": tags["pairwise"], "requires_positive_X": tags["positive_only"]}

    def _check_n_clusters(self, n_samples: int, counted: int) -> None:
        """Raise unless ``n_clusters`` is a whole number up to the samples of positive weight."""
        k = check_integer("n_clusters", self.n_clusters, error=NumberOfCommunitiesError)
        if k > counted:
            less = f", {counted} of positive weight" if counted < n_samples else ""
            msg = (
                f"n_clusters must not exceed the number of samples, got n_clusters={k} for "
                f"n_samples={n_samples}{less}."
            )
            raise NumberOfCommunitiesError(msg)

    def _object_of(self, name: str) -> Any:
        """Return the value of a parameter, or the object of the string that it is."""
        value = getattr(self, name)
        return self._named.get(name, {}).get(value, value) if isinstance(value, str) else value


def _knows_distances(estimator: "_KernelClusterer") -> bool:
    """Return whether the distances of new points to means are known, not only their differences."""
    return not (isinstance(estimator.metric, str) and estimator.metric == "gram")


class _KernelClusterer(_Clusterer):
    """What both estimators of points share: everything but the function that groups them."""

    _named: ClassVar = {"metric": NAMED_METRICS}
    _cluster: ClassVar[Callable[..., Clustering]]

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the groups of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; with ``metric="precomputed"`` their semimetric and with ``metric="gram"``
            their Gram matrix, of shape (n_samples, n_samples).
        y : object
            Ignored; present by convention of scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0, by default 1 each. A sample of weight 0 does not count and is labeled
            by :meth:`predict`.

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=np.float64)
        weights = as_weights(sample_weight, X.shape[0])
        self._check_n_clusters(X.shape[0], int(np.count_nonzero(weights)))
        if self._input_tags()["positive_only"]:
            # The checks of scikit-learn require these words.
            what = f"Negative values in data passed to {type(self).__name__}: distances"
            check_not_negative(X, rounding_of(X), what)
        with worded(_Parameters()):
            found = self._cluster(
                X,
                self.n_clusters,
                metric=self.metric,
                sample_weight=weights,
                init=self.init,
                n_init=self.n_init,
                max_sweeps=self.max_iter,
                rng=_as_generator(self.random_state),
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
                f"{type(self).__name__} still moved points in the last of {self.max_iter} sweeps: "
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
        return self._fitted.predict(validate_data(self, X, reset=False, dtype=np.float64))

    @available_if(_knows_distances)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the energy of X about the nearest means, as ``KMeans.score`` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for :meth:`predict`. There is no score with ``metric="gram"``: rows of a Gram
            matrix do not hold the kernel of a new point with itself.
        y : object
            Ignored; present by convention of scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0, by default 1 each.

        Returns
        -------
        float
            Minus the sum over the samples of their squared distances to the nearest mean in
            feature space, times their weights; higher is better. Of the samples
            that were fitted, with their weights, it is ``-within_energy_`` if :meth:`predict`
            gives ``labels_``; with ``Power(2.0)`` it is ``KMeans.score``. Scores of different
            semimetrics, or numbers of groups, cannot be compared.
        """
        check_is_fitted(self, "labels_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        with worded(_Parameters()):
            return -self._fitted.cost(X, sample_weight)

    def _input_tags(self) -> dict[str, bool]:
        takes_matrix = is_matrix(self.metric)
        return {
            "pairwise": takes_matrix,
            "positive_only": takes_matrix and self.metric == "precomputed",
        }


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
    init : {"k-means++", "random"} or array-like of n_samples labels
        Centers drawn far apart in feature space, random groups, or labels in
        ``range(n_clusters)`` to start from.
    n_init : int
        Number of starts, of which the best is kept; labels are one start.
    max_iter : int
        Sweeps over the samples after which a start ends.
    random_state : int, RandomState or None
        Draws the starts and the order of visits.
    gram_memory : float
        Bytes up to which the matrix of all pairs is kept. If it is larger, its rows are computed
        when needed.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Group of each sample.
    objective_ : float
        Group association Q of the groups in feature space; larger is better.
    within_energy_ : float
        Within-energy dispersion W; smaller is better.
    n_iter_ : int
        Sweeps over the samples from the best start.
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
    KernelKMeans : The same objective, with moves to the nearest mean.
    kgroups.energy.kernel_kgroups : The same as a function, without scikit-learn.

    Notes
    -----
    Energies of different semimetrics cannot be compared, and they fall with the number of groups:
    a search over ``metric`` or ``n_clusters`` needs another ``scoring`` than ``score``.

    The groups do not depend on the order of the samples, nor on whether equal samples are given as
    copies or as one with a weight. There are two exceptions: if labels or a matrix are given, and
    if there are fewer distinct samples than groups, so that equal samples must be separated.

    Examples
    --------
    >>> X = [[0.0, 0.1], [0.1, 0.0], [4.0, 4.1], [4.2, 4.0], [4.1, 4.2]]
    >>> model = KernelKGroups(2, metric=Power(0.5), random_state=0).fit(X)
    >>> model.labels_
    array([1, 1, 0, 0, 0])
    >>> model.predict([[3.0, 3.0]])
    array([0])
    """

    _cluster = staticmethod(kernel_kgroups)


class KernelKMeans(_KernelClusterer):
    """Group samples by moving each to the nearest mean in feature space, one at a time.

    This is Lloyd's algorithm with means that are updated after every move. It stops at more local
    optima than :class:`KernelKGroups`, which has the same parameters, attributes and objective.

    See Also
    --------
    KernelKGroups : The same objective, with the moves that improve it most.
    kgroups.energy.kernel_kmeans : The same as a function, without scikit-learn.

    Examples
    --------
    >>> X = [[0.0, 0.1], [0.1, 0.0], [4.0, 4.1], [4.2, 4.0], [4.1, 4.2]]
    >>> KernelKMeans(2, random_state=0).fit_predict(X)
    array([1, 1, 0, 0, 0])
    """

    _cluster = staticmethod(kernel_kmeans)


class GraphKGroups(_Clusterer):
    """Find the communities of a graph, and how many there are.

    Parameters
    ----------
    n_clusters : int, optional
        Number of communities. If not given, it is found with the communities.
    weighted : bool
        Whether the entries of the adjacency matrix are weights; if not, every nonzero entry is 1.
    operator : BetheHessian or "bethe-hessian"
        The operator and its choice of r.
    method : {"auto", "search", "spectral"}, Auto, Search or Spectral
        How communities are searched for; see :func:`kgroups.detect_communities`.
    init : {"k-means", "qr"}, KMeansInit, QRInit or WarmStart
        How eigenvectors become first labels, or labels to start from instead.
    refine : Hartigan, another Refiner, "hartigan" or None
        How first labels from eigenvectors are improved.
    symmetrize : {"sum", "union"}, optional
        How a matrix that is not symmetric becomes so: the two entries of a pair added, or an edge
        of weight 1 wherever there is one. By default such a matrix is an error.
    self_loops : {"drop", "keep"}
        Whether the diagonal takes part.
    random_state : int, RandomState or None
        Randomness of the first labels.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Community of each node; community 0 is the largest.
    n_clusters_ : int
        Number of communities.
    partition_ : Partition
        The communities as sets of row numbers, with scores, spectrum and report.
    n_features_in_ : int
        Number of nodes.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if X had names that are all strings.

    See Also
    --------
    kgroups.detect_communities : The same as a function, with the same options, for graphs of many
        kinds and without scikit-learn.

    Notes
    -----
    There is no ``predict``, because a new node changes the graph. Start from the old communities
    with ``init=WarmStart(labels)`` instead, with a new label for each new node.

    ``partition_`` shares the arrays of a sparse matrix where it can.

    Examples
    --------
    >>> import networkx as nx
    >>> A = nx.to_scipy_sparse_array(nx.ring_of_cliques(3, 4))
    >>> model = GraphKGroups(random_state=0).fit(A)
    >>> model.n_clusters_, model.labels_
    (3, array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]))
    """

    _named: ClassVar = {
        "operator": {"bethe-hessian": BetheHessian()},
        "method": {"auto": Auto(), "search": Search(), "spectral": Spectral()},
        "init": {"k-means": KMeansInit(), "qr": QRInit()},
        "refine": {"hartigan": Hartigan()},
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        weighted: bool = True,
        operator: BetheHessian | str = "bethe-hessian",
        method: Method | str = "auto",
        init: Init | WarmStart | str = "k-means",
        refine: Refiner | str | None = "hartigan",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighted = weighted
        self.operator = operator
        self.method = method
        self.init = init
        self.refine = refine
        self.symmetrize = symmetrize
        self.self_loops = self_loops
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the communities of the graph with adjacency matrix X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_samples)
            Symmetric and not negative; weights are similarities and 0 is no edge. Of the two
            entries of a pair that differ by rounding, less than 1e-8 of their sum, the mean is
            taken.
        y : object
            Ignored; present by convention of scikit-learn.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        if self.n_clusters is not None:
            self._check_n_clusters(X.shape[0], X.shape[0])
        options = {name: self._option(name) for name in self._named}
        with worded(_Parameters()):
            found = detect_communities(
                self._graph_of(X),
                self.n_clusters,
                self_loops=self.self_loops,
                rng=_as_generator(self.random_state),
                **options,
            )
        self.labels_ = np.array(found.labels)
        self.n_clusters_ = len(found)
        self.partition_ = found
        return self

    def _graph_of(self, X: Any) -> Graph:
        if not isinstance(self.weighted, bool | np.bool_):
            msg = f"weighted must be True or False, got {self.weighted!r}."
            raise InputError(msg)
        weight = "weight" if self.weighted else None
        if not issparse(X):
            # Integers in two columns would be edges.
            X = X.astype(np.float64, copy=False)
        try:
            return as_graph(X, weight=weight, symmetrize=self.symmetrize)
        except WeightError as error:
            if (X.data if issparse(X) else X).min(initial=0.0) >= 0.0:
                raise
            # The checks of scikit-learn require these words.
            msg = f"Negative values in data passed to {type(self).__name__}: {error}"
            raise WeightError(msg) from None
        except GraphError:
            mean = _mean_if_rounded(X)
            if mean is None:
                raise
            return as_graph(mean, weight=weight)

    def _option(self, name: str) -> Any:
        """Return the object of an option, or raise if it is a string without one."""
        value = self._object_of(name)
        if isinstance(value, str):
            names = ", ".join(repr(known) for known in self._named[name])
            msg = f"{name} must be one of {names}, or an object as for detect_communities, got "
            raise InputError(msg + f"{value!r}.")
        return value

    def _input_tags(self) -> dict[str, bool]:
        return {"pairwise": True, "positive_only": True, "sparse": True}


def _mean_if_rounded(X: Any) -> Any:
    """Return the mean of a matrix and its transpose if they differ by rounding only, or None."""
    if X.shape[0] != X.shape[1] or X.dtype.kind != "f":
        return None
    total, gap = X + X.T, abs(X - X.T)
    beyond = gap > _ROUNDING * total
    return None if (beyond.nnz if issparse(beyond) else beyond.any()) else total / 2


def _as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator, seeded from the ``random_state`` of scikit-learn."""
    state = check_random_state(random_state)
    return np.random.default_rng(state.randint(np.iinfo(np.int32).max, size=4).tolist())


def _field_names(value: Any) -> list[str]:
    """Return the fields that can be set; none if the value is not a dataclass object."""
    if not is_dataclass(value) or isinstance(value, type):
        return []
    return [field.name for field in fields(value) if field.init]
