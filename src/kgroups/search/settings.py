"""Methods, which say how communities are found, and their settings."""

import math
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias, get_args

from kgroups._blas import single_threaded
from kgroups._validation import changed_options, check_choice, check_integer, check_real, is_real
from kgroups.errors import InputError
from kgroups.search.levels import Level
from kgroups.search.objective import Objective

SIGNIFICANCE = math.log(10.0)
"""Nats that chance saves on at most one random graph in ten."""
EXACT_NODES_UNEVEN = 20_000
"""Largest graph of uneven degrees whose eigenvectors are computed exactly, a matter of seconds.

Hubs crowd the upper end of its spectrum, and a filtered subspace does not separate them from
communities.
"""

Solver: TypeAlias = Literal["auto", "exact", "filtered"]


class Method(ABC):
    """How communities are found: the interface of :class:`Auto`, ``Search`` and ``Spectral``.

    Attributes
    ----------
    has_spectrum : bool
        Whether eigenvectors propose communities.
    compares : bool
        Whether several candidates compete.
    """

    has_spectrum: ClassVar[bool] = True
    compares: ClassVar[bool] = False

    @property
    @abstractmethod
    def search_settings(self) -> "Search | None":
        """Settings of the search, None if there is none."""

    @property
    @abstractmethod
    def spectral_settings(self) -> "Spectral":
        """How eigenvectors are computed."""

    @abstractmethod
    def resolves(self, k: float, n: int) -> bool:
        """Return whether a filtered subspace is to resolve ``k`` communities of ``n`` nodes."""

    def measures(self, n: int) -> bool:
        """Return whether eigenvectors of ``n`` nodes are tried only if moments show structure."""
        return False

    def solves_uneven(self, k: int, n: int) -> bool:
        """Return whether eigenvectors of uneven degrees are computed exactly."""
        return False

    def counts_all(self, largest: int) -> bool:
        """Return whether eigenvalues of components up to a size are counted for the report."""
        return False


@dataclass(frozen=True)
class Search(Method):
    """Find communities by the search alone: the partition with the shortest description.

    A start moves nodes from singletons at a resolution; the resulting groups, the *cells*, are then
    moved by the description length. Each further start is joined with the best one so far through
    the intersection of both. Each setting has its experiment in ``python -m benchmarks.constants``.

    Parameters
    ----------
    scales : tuple of float
        Resolutions of the starts in turn, as exponents of n / mean degree: 0 is modularity, and at
        1 hardly any two nodes join.
    starts : int
        Maximum number of starts.
    least_gain : float
        Share of the nats saved that a start, or a round of annealing, must gain to count.
    patience : int
        Starts in a row that may gain less before the search ends.
    temperatures : tuple of float
        Temperatures of annealing, decreasing.
    undecided_margin : float
        A node is undecided if its best community leads the second best by fewer nats.
    at_stake : float
        Two starts that agree are enough if at least one nat per node is saved, and the number of
        undecided nodes times ``undecided_margin`` is at most this share of the nats saved. One
        start is enough if that share is at most ``least_gain``.
    treelike : float
        If less than this share of the links inside cells is in excess of a spanning tree, the graph
        is locally treelike: starts then use all levels at their resolution, and are annealed.
    significance : float
        Nats that communities must save; otherwise one community is returned. Chance saves ln 10 on
        at most one random graph in ten.
    max_visits : int
        Visits to each node before its moves end.
    spectral_nodes : int
        In locally treelike components larger than this, contraction merges nodes but keeps their
        edges, so the search starts from the spectrum if this shows few, large communities. If it
        does not, and the first start finds one community, the search ends.
    clear_communities, clear_signal : float
        If the spectrum shows more communities than the first number, at a signal-to-noise ratio
        below the second, they are compared with those of the usual first start.
    dispersion : float, optional
        Number of edges divided by the number of independent edges. The nats that edges save are
        divided by it; the cost of communities is not. With 1, all edges count in full. If not
        given, it is estimated from the components in which communities save at least one nat per
        node at dispersion 1. It stays 1 if there are no such components, if they have fewer than
        three communities, if they are so dense that degrees alone would link many pairs twice, or
        if links are no more uneven than chance allows.

    Examples
    --------
    >>> import kgroups as kg
    >>> import networkx as nx
    >>> thorough = kg.Search(starts=64, patience=8)
    >>> len(kg.detect_communities(nx.ring_of_cliques(6, 5), method=thorough))
    6
    """

    scales: tuple[float, ...] = (0.3, 0.5, 0.4, 0.2, 0.6)
    starts: int = 8
    least_gain: float = 0.002
    patience: int = 2
    temperatures: tuple[float, ...] = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    undecided_margin: float = 6.0
    at_stake: float = 0.1
    treelike: float = 0.1
    significance: float = SIGNIFICANCE
    max_visits: int = 10
    spectral_nodes: int = 10_000
    clear_communities: float = 64.0
    clear_signal: float = 1.6
    dispersion: float | None = None

    has_spectrum: ClassVar[bool] = False
    __repr__ = changed_options

    def __post_init__(self) -> None:
        if self.dispersion is not None:
            check_real("dispersion", self.dispersion, low=1.0)
        for name in ("starts", "max_visits", "patience"):
            check_integer(name, getattr(self, name))
        if not self.scales:
            msg = "scales must hold at least one exponent, got an empty tuple."
            raise InputError(msg)
        for field in fields(self):
            values = getattr(self, field.name)
            if field.name == "dispersion":
                continue
            for value in values if isinstance(values, tuple) else (values,):
                if not (is_real(value) and value >= 0.0):
                    msg = f"{field.name} must be made of numbers >= 0, got {values!r}."
                    raise InputError(msg)

    @property
    def search_settings(self) -> "Search":
        """Settings of the search: these."""
        return self

    @property
    def spectral_settings(self) -> "Spectral":
        """How shares of a given ``k`` are counted: by moments, without exact eigenvectors."""
        return Spectral("filtered")

    def objective_of(self, level: Level, dispersion: float) -> Objective:
        """Return the objective of a search in the components of a finest level."""
        return Objective.of(level, dispersion)

    def resolves(self, k: float, n: int) -> bool:
        """Return False: no subspace is filtered."""
        return False


@dataclass(frozen=True)
class Spectral(Method):
    """Find communities by eigenvectors of N_r alone; suited to few, large ones, however faint.

    Parameters
    ----------
    solver : {"auto", "exact", "filtered"}
        How eigenvectors are computed: exactly, from a Chebyshev-filtered subspace, or exactly in
        components of up to ``exact_nodes`` nodes and from the subspace in larger ones.
    exact_nodes : int
        Eigenvectors of components up to this size are computed exactly if ``solver`` is "auto".
    columns : float
        Maximum number of columns of the subspace, per community that the moments of the spectrum
        show.
    sample : int
        Embedding rows on which k-means starts, or 50 per community if that is more; all other rows
        get the label of the nearest mean. Used only with a filtered subspace.

    Examples
    --------
    >>> import kgroups as kg
    >>> as_in_the_paper = kg.Spectral("exact")
    """

    solver: Solver = "auto"
    exact_nodes: int = 1_000
    columns: float = 2.0
    sample: int = 4_000

    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, get_args(Solver))
        check_integer("exact_nodes", self.exact_nodes, low=0)
        check_real("columns", self.columns, low=1.0)
        check_integer("sample", self.sample)

    @property
    def largest_exact(self) -> float:
        """Nodes of the largest component whose eigenvectors are computed exactly."""
        if self.solver == "auto":
            return self.exact_nodes
        return math.inf if self.solver == "exact" else 0

    @property
    def search_settings(self) -> None:
        """There is no search."""
        return

    @property
    def spectral_settings(self) -> "Spectral":
        """How eigenvectors are computed: in this way."""
        return self

    def resolves(self, k: float, n: int) -> bool:
        """Return True: eigenvectors were asked for."""
        return True

    def counts_all(self, largest: int) -> bool:
        """Return whether eigenvectors were computed exactly, so that counts cost no more."""
        return largest <= self.largest_exact


@dataclass(frozen=True)
class Auto(Method):
    """Let candidates compete in each component.

    The search proposes the partition with the shortest description. It is taken if it saves at
    least a nat per node. Otherwise structure is faint: the eigenvectors of N_r propose too, and
    evidence by belief propagation decides between them, the search and one community.

    Parameters
    ----------
    search : Search
        Settings of the search.
    spectral : Spectral
        How eigenvectors are computed.
    moments_nodes : int
        From this size on, eigenvectors propose communities only if the moments of the spectrum
        differ from those of a random graph.
    max_few : int
        Largest number of communities that a filtered subspace is expected to resolve.
    min_few_size : int
        Least mean size of these communities, in nodes.
    """

    search: Search = Search()
    spectral: Spectral = Spectral()
    moments_nodes: int = 500
    max_few: int = 64
    min_few_size: int = 200

    compares: ClassVar[bool] = True
    __repr__ = changed_options

    def __post_init__(self) -> None:
        _check_settings("search", self.search, Search)
        _check_settings("spectral", self.spectral, Spectral)
        for name in ("moments_nodes", "max_few", "min_few_size"):
            check_integer(name, getattr(self, name), low=0)

    @property
    def search_settings(self) -> Search:
        """Settings of the search."""
        return self.search

    @property
    def spectral_settings(self) -> Spectral:
        """How eigenvectors are computed."""
        return self.spectral

    def resolves(self, k: float, n: int) -> bool:
        """Return whether communities are few and large enough for a filtered subspace."""
        return k <= self.max_few and n >= self.min_few_size * k

    def measures(self, n: int) -> bool:
        """Return whether a component of this size must show structure in its moments."""
        return n >= self.moments_nodes

    def solves_uneven(self, k: int, n: int) -> bool:
        """Return whether exact eigenvectors take only seconds."""
        return k <= self.max_few and n <= EXACT_NODES_UNEVEN


def dense_solves(n: int, method: Method) -> AbstractContextManager[None]:
    """Limit BLAS to one thread if all dense problems that a method solves are small.

    Only an exact solver solves dense problems on large components of a graph with ``n`` nodes.
    """
    spectral = method.spectral_settings
    return single_threaded(n if spectral.solver == "exact" else min(n, spectral.exact_nodes))


def check_method(method: object) -> None:
    """Raise unless this is a method."""
    if not isinstance(method, Method):
        msg = f"method must be Auto(), Search() or Spectral(), got {method!r}."
        raise InputError(msg)


def _check_settings(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        msg = f"{name} must be {kind.__name__}(), got {value!r}."
        raise InputError(msg)
