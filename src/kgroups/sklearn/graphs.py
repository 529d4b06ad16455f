"""Communities of a graph, given as its adjacency matrix, as an estimator of scikit-learn."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from kgroups._doors import check_count
from kgroups._types import SelfLoops, Symmetrize
from kgroups._wording import Wording, worded
from kgroups.adapters import as_graph
from kgroups.detect import detect_communities
from kgroups.embedding import KMeansSeed, QRSeed, Seed, WarmStart
from kgroups.errors import GraphError, InputError, NumberOfCommunitiesError, WeightError
from kgroups.graph import Graph
from kgroups.operators import BetheHessian
from kgroups.refine import Hartigan
from kgroups.search import Auto, Exact, FewGroups, ManyGroups, Regime
from kgroups.sklearn.estimator import Clusterer, as_generator, validate_data

__all__ = ["GraphKGroups"]

# Part of the sum of two entries: what passes for rounding.
_ROUNDING = 1e-8


class _Parameters(Wording):
    """Arguments of ``detect_communities`` as parameters of the estimator."""

    _names: ClassVar = {"k": "n_clusters", "weight": "weighted", "rng": "random_state"}

    def argument(self, name: str) -> str:
        """Return the parameter that sets an argument."""
        return self._names.get(name, name)

    def setting(self, name: str, value: object) -> str:
        """Return the parameter with the value that stands for one of the argument."""
        return super().setting(
            self.argument(name), value is not None if name == "weight" else value
        )


class GraphKGroups(Clusterer):
    """Find the communities of a graph, and how many there are.

    Parameters
    ----------
    n_clusters : int, optional
        Number of communities. If not given, it is found with the communities.
    weighted : bool
        Whether the entries of the adjacency matrix are weights; if not, every nonzero entry is 1.
    operator : BetheHessian or "bethe-hessian"
        The operator and its choice of r.
    regime : {"auto", "exact", "few-groups", "many-groups"}, Auto, Exact, FewGroups or ManyGroups
        Who proposes communities; see :func:`kgroups.detect_communities`.
    init : {"k-means", "qr"}, KMeansSeed, QRSeed or WarmStart
        How eigenvectors become first labels, or labels to start from instead.
    refine : Hartigan, "hartigan" or None
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
    There is no ``predict``: a new node changes the graph. Start from the old communities with
    ``init=WarmStart(labels)``, where new nodes have labels of their own.

    ``partition_`` reads the arrays of a sparse matrix where they are, if it need not copy them.

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
        "regime": {
            "auto": Auto(),
            "exact": Exact(),
            "few-groups": FewGroups(),
            "many-groups": ManyGroups(),
        },
        "init": {"k-means": KMeansSeed(), "qr": QRSeed()},
        "refine": {"hartigan": Hartigan()},
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        weighted: bool = True,
        operator: BetheHessian | str = "bethe-hessian",
        regime: Regime | str = "auto",
        init: Seed | WarmStart | str = "k-means",
        refine: Hartigan | str | None = "hartigan",
        symmetrize: Symmetrize | None = None,
        self_loops: SelfLoops = "drop",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighted = weighted
        self.operator = operator
        self.regime = regime
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
            Not used; here because every estimator has it.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric")
        self._check_count(X.shape[0])
        options = {name: self._option(name) for name in self._named}
        with worded(_Parameters()):
            found = detect_communities(
                self._graph_of(X),
                self.n_clusters,
                self_loops=self.self_loops,
                rng=as_generator(self.random_state),
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
        try:
            return as_graph(X, weight=weight, symmetrize=self.symmetrize)
        except WeightError as error:
            if (X.data if issparse(X) else X).min(initial=0.0) >= 0.0:
                raise
            # The checks of scikit-learn ask for these words.
            msg = f"Negative values in data passed to {type(self).__name__}: {error}"
            raise WeightError(msg) from None
        except GraphError:
            mean = _mean_if_rounded(X)
            if mean is None:
                raise
            return as_graph(mean, weight=weight)

    def _option(self, name: str) -> Any:
        """Return the value object that a parameter is, or stands for."""
        value = self._object_of(name)
        if isinstance(value, str):
            names = ", ".join(repr(known) for known in self._named[name])
            msg = f"{name} must be one of {names}, or an object as for detect_communities, got "
            raise InputError(msg + f"{value!r}.")
        return value

    def _check_count(self, n: int) -> None:
        if self.n_clusters is None:
            return
        k = check_count("n_clusters", self.n_clusters, error=NumberOfCommunitiesError)
        if k > n:
            msg = (
                f"n_clusters must not exceed the number of nodes, got n_clusters={k} for "
                f"n_samples={n}."
            )
            raise NumberOfCommunitiesError(msg)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Return the tags in the form of scikit-learn 1.5."""
        return {"pairwise": True, "requires_positive_X": True}


def _mean_if_rounded(X: Any) -> Any:
    """Return the mean of a matrix and its transpose if they differ by rounding alone, or None."""
    if X.shape[0] != X.shape[1] or X.dtype.kind != "f":
        return None
    total, gap = X + X.T, abs(X - X.T)
    beyond = gap > _ROUNDING * total
    return None if (beyond.nnz if issparse(beyond) else beyond.any()) else total / 2
