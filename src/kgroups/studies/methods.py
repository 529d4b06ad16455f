"""The methods that a study compares, by name or as callables, and the graph that they are given."""

import difflib
import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._blas import DENSE
from kgroups._types import Floats, Ints
from kgroups._wording import in_python, install_hint
from kgroups.adapters import igraph_draws_from
from kgroups.detect import detect_communities
from kgroups.errors import InputError, MissingExtraError
from kgroups.generators import Planted
from kgroups.graph import Graph
from kgroups.hartigan import Hartigan, KMeansInit, Refiner, informative_eigenpairs, refine_whole
from kgroups.inference import Inference, infer_at_rates, known_rates
from kgroups.search import Prepared, Spectral, prepare
from kgroups.spectrum import largest_eigenpairs, start_vector
from kgroups.uncertainty import posterior, spectral_start

PAPER_UNIFORM = Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None)
PAPER_GRAM = Hartigan(weights="gram", candidates="all", margin=0.0, guard=None)


@dataclass(frozen=True, eq=False)
class Points:
    """Vector data with planted classes, which a generator returns instead of a graph.

    Attributes
    ----------
    X : ndarray of shape (n, dimensions)
        A row per point.
    """

    X: Floats


class TrialContext:
    """The graph of a trial, its planted number of groups, and the work that methods share.

    The seconds of shared work count for each method that uses it. ``source`` is the graph as the
    generator returned it, ``graph`` the same as a Graph. ``planted`` is what the generator
    returned if it is one of ``kgroups.generators``; only an oracle may look at it.
    """

    def __init__(
        self, source: Any, graph: Graph, k: int, seed: int, planted: Planted | None = None
    ) -> None:
        self.source, self.graph, self.k, self.planted = source, graph, k, planted
        self._seed = seed
        self._first: tuple[Prepared, Ints] | None = None
        self.shared_seconds = self._reused_seconds = 0.0

    def rng(self) -> np.random.Generator:
        """Return the random stream of the methods; each starts at its beginning."""
        return np.random.default_rng(self._seed).spawn(2)[1]

    def timed(self, find: Callable[["TrialContext"], Any]) -> tuple[Any, float]:
        """Return the result of a method and its seconds, those of shared work included."""
        self._reused_seconds = 0.0
        start = perf_counter()
        found = find(self)
        return found, perf_counter() - start + self._reused_seconds

    def labels_given_k(self, refine: Refiner | None) -> Ints:
        """Return the labels of ``detect_communities`` with k given and exact eigenvectors."""
        return detect_communities(
            self.graph, self.k, refine=refine, method=Spectral("exact"), rng=self.rng()
        ).labels

    def labels_of_paper(self, refine: Refiner | None) -> Ints:
        """Return labels as the paper finds them, which does not treat components separately.

        The lowest eigenvectors of H_r of the whole graph, k-means on their rows, and moves of all
        nodes. On a connected graph that is ``detect_communities`` with ``KMeansInit(rows="raw")``.
        """
        if self._first is None:
            start = perf_counter()
            self._first = self._first_labels_of_paper()
            self.shared_seconds = perf_counter() - start
        else:
            self._reused_seconds += self.shared_seconds
        ready, z = self._first
        if refine is not None:
            z = refine_whole(refine, ready.problem, z).z
        return np.asarray(ready.restored(z))

    def _first_labels_of_paper(self) -> tuple[Prepared, Ints]:
        stream = self.rng()
        # Nodes are permuted first, as detection does.
        ready = prepare(self.graph, shuffle=stream.permutation(self.graph.n))
        hessian, k = ready.problem.hessian, self.k
        if hessian.n > DENSE.eigenpairs and 3 * k < hessian.n:
            _, V = largest_eigenpairs(-hessian.matrix(), k, start_vector(hessian))
        else:
            _, V = informative_eigenpairs(hessian, k, "raw")
        return ready, KMeansInit(rows="raw").labels([V], [k], int(stream.integers(2**63)))[0]


def _labels_without_k(context: TrialContext) -> Ints:
    return detect_communities(context.graph, rng=context.rng()).labels


def _inferred_labels(context: TrialContext) -> Ints:
    return posterior(context.graph, context.k, rng=context.rng()).labels


def oracle_inference(context: TrialContext, *, from_truth: bool = False) -> Inference:
    """Infer the planted groups at the true rates of the generator, by belief propagation.

    It starts from eigenvectors as ``posterior`` does, or from the planted labels. There must be an
    edge.
    """
    planted, graph = context.planted, context.graph
    if planted is None or planted.inside is None or planted.between is None:
        msg = (
            "the method 'bp-oracle' must be told the true rates, and this generator does not "
            "tell them.\n  Return what planted_partition, stochastic_block_model (with one "
            "probability between all blocks) or degree_corrected_sbm of kgroups.generators "
            "returned, or leave the method out."
        )
        raise InputError(msg)
    k, ready = planted.inside.size, prepare(graph)
    start = planted.labels if from_truth else spectral_start(graph, k, context.rng())
    sizes = np.bincount(planted.labels, minlength=k).astype(float)
    rates = known_rates(planted.inside, planted.between, sizes)
    found = infer_at_rates(ready.problem.level, ready.sorted(start), rates)
    return found._replace(marginals=ready.restored(found.marginals))


def _oracle_labels(context: TrialContext) -> Ints:
    if not context.graph.m:
        return np.zeros(context.graph.n, dtype=np.int64)
    return np.asarray(np.argmax(oracle_inference(context).marginals, axis=1), dtype=np.int64)


def spectral_labels(context: TrialContext) -> Ints:
    """Group the rows of the top k eigenvectors of A by k-means."""
    matrix, k = context.graph.to_scipy(), context.k
    if k == 1:
        return np.zeros(context.graph.n, dtype=np.int64)
    if context.graph.n <= DENSE.eigenpairs or 3 * k >= context.graph.n:
        V = np.linalg.eigh(matrix.toarray())[1][:, ::-1][:, :k]
    else:
        # Not constant: on a regular graph the constant vector is the top eigenvector.
        start = 0.5 + np.random.default_rng(0).random(context.graph.n)
        V = largest_eigenpairs(matrix, k, start)[1]
    return KMeansInit(rows="raw").labels([V], [k], int(context.rng().integers(2**63)))[0]


def leiden_labels(context: TrialContext, *, converged: bool = False) -> Ints:
    """Maximize modularity by igraph's Leiden: two iterations, or more while modularity rises."""
    with _igraph_of(context) as (graph, weights):
        find = partial(graph.community_leiden, "modularity", weights)
        z = find(n_iterations=2).membership
        reached, before = graph.modularity(z, weights), -np.inf
        # Before igraph 1.0, n_iterations=-1 ends after the first iteration.
        while converged and reached > before:
            further = find(n_iterations=1, initial_membership=z).membership
            before, reached = reached, graph.modularity(further, weights)
            if reached > before:
                z = further
    return np.array(z, dtype=np.int64)


def louvain_labels(context: TrialContext) -> Ints:
    """Maximize modularity by igraph's Louvain."""
    with _igraph_of(context) as (graph, weights):
        found = graph.community_multilevel(weights=weights)
    return np.array(found.membership, dtype=np.int64)


def infomap_labels(context: TrialContext) -> Ints:
    """Compress random walks by Infomap, in two levels."""
    from infomap import Infomap

    u, v, weights = context.graph.edges()
    seed = int(context.rng().integers(1, 2**31))
    built = Infomap(silent=True, two_level=True, num_trials=1, seed=seed)
    built.add_nodes(range(context.graph.n))
    built.add_links(list(zip(u.tolist(), v.tolist(), weights.tolist(), strict=True)))
    modules = built.run().modules()
    return np.array([modules[node] for node in range(context.graph.n)], dtype=np.int64)


@contextmanager
def _igraph_of(context: TrialContext) -> Iterator[tuple[Any, Floats | None]]:
    """Yield the igraph graph and its weights while igraph draws its random numbers from ours."""
    import igraph

    u, v, weights = context.graph.edges()
    graph = igraph.Graph(n=context.graph.n, edges=np.column_stack([u, v]))
    with igraph_draws_from(random.Random(int(context.rng().integers(2**63)))):
        yield graph, weights if context.graph.is_weighted else None


_TakesK: TypeAlias = Literal["second", "by name"] | None


@dataclass(frozen=True)
class _Called:
    """A callable of the user, given the graph as drawn, k if it takes it, and a random stream."""

    function: Callable[..., Any]
    takes_k: _TakesK

    def __call__(self, context: TrialContext) -> Any:
        if self.takes_k == "second":
            return self.function(context.source, context.k, context.rng())
        by_name = {} if self.takes_k is None else {"k": context.k}
        return self.function(context.source, context.rng(), **by_name)


@dataclass(frozen=True)
class Method:
    """A method: its function, whether that is given k or chooses it, and its name in legends."""

    name: str
    find: Callable[[TrialContext], Any]
    k_given: bool = True
    label: str = ""

    @property
    def function(self) -> Callable[..., Any]:
        """The callable of the user, or the function of a named method."""
        return self.find.function if isinstance(self.find, _Called) else self.find


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("kgroups", partial(TrialContext.labels_given_k, refine=Hartigan())),
        Method("kgroups-auto", _labels_without_k, k_given=False),
        Method("kgroups-paper", partial(TrialContext.labels_of_paper, refine=PAPER_GRAM)),
        Method(
            "kgroups-paper-uniform", partial(TrialContext.labels_of_paper, refine=PAPER_UNIFORM)
        ),
        Method("bethe-hessian", partial(TrialContext.labels_given_k, refine=None)),
        Method("bethe-hessian-raw", partial(TrialContext.labels_of_paper, refine=None)),
        Method("bp", _inferred_labels, label="belief propagation"),
        Method("bp-oracle", _oracle_labels, label="belief propagation, true rates"),
        Method("spectral-adjacency", spectral_labels),
        Method("leiden", leiden_labels, k_given=False, label="Leiden, 2 iterations"),
        Method(
            "leiden-converged",
            partial(leiden_labels, converged=True),
            k_given=False,
            label="Leiden, converged",
        ),
        Method("louvain", louvain_labels, k_given=False, label="Louvain"),
        Method("infomap", infomap_labels, k_given=False, label="Infomap, 1 trial"),
    )
}
"""The methods that can be named in a study, listed in the documentation of studies."""


def as_methods(methods: Any) -> tuple[Method, ...]:
    """Return the methods of a name, a callable, a sequence of these, or a mapping from names."""
    if isinstance(methods, str) or callable(methods):
        methods = (methods,)
    if isinstance(methods, Mapping):
        chosen = tuple(_method(given, str(name)) for name, given in methods.items())
    else:
        chosen = tuple(_method(given) for given in methods)
    if not chosen:
        msg = f"a study needs at least one method.\n  The named ones are {', '.join(METHODS)}."
        raise InputError(msg)
    names = [method.name for method in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = f"the names of methods must differ, got {twice[0]!r} twice." + in_python(
            "\n  Pass a dict from names to callables."
        )
        raise InputError(msg)
    if any(method.find is infomap_labels for method in chosen) and find_spec("infomap") is None:
        msg = f'the method "infomap" needs the package infomap. {install_hint("bench")}'
        raise MissingExtraError(msg)
    return chosen


def _method(given: Any, name: str | None = None) -> Method:
    if not callable(given) and (not isinstance(given, str) or given not in METHODS):
        close = difflib.get_close_matches(str(given), METHODS, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        msg = (
            f"a method must be one of {', '.join(METHODS)}{in_python(' or a callable')}, got "
            f"{given!r}.{guess}"
        ) + in_python(
            "\n  A callable takes (graph, k, rng), or (graph, rng) if it chooses k itself, and "
            "returns labels."
        )
        raise InputError(msg)
    if name is None:
        name = given if isinstance(given, str) else getattr(given, "__name__", "<lambda>")
    if name == "<lambda>":
        msg = (
            f"a method without a name must be given one, got {given!r}.\n"
            '  Pass a dict such as {"mine": function}.'
        )
        raise InputError(msg)
    if name in METHODS and given != name:
        msg = (
            f"{name!r} is the name of a method of kgroups; no other method can have it.\n"
            '  Pass a dict such as {"mine": function}.'
        )
        raise InputError(msg)
    if not callable(given):
        return replace(METHODS[given], name=name)
    takes_k = _takes_k(given)
    return Method(name, _Called(given, takes_k), k_given=takes_k is not None)


def _takes_k(function: Callable[..., Any]) -> _TakesK:
    """Return how a callable takes k: second of (graph, k, rng), by its name, or not at all.

    It takes k if a parameter is named k. Otherwise it takes k if three positional parameters or
    more have no default, or if fewer than two have none and ``*args`` takes the rest.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return "second"  # compiled functions may have no signature
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [each for each in parameters.values() if each.kind in kinds]
    if "k" in parameters:
        return "second" if [each.name for each in positional[1:2]] == ["k"] else "by name"
    required = sum(each.default is each.empty for each in positional)
    takes_more = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    return "second" if required > 2 or (required < 2 and takes_more) else None
