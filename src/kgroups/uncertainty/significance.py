"""The verdict on a graph: whether there is structure, and how clear it is."""

import warnings
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._blas import DENSE, DenseLimits, single_threaded
from kgroups._csr import connected_components, restricted, rows_of
from kgroups._output import html_facts, html_result
from kgroups._parallel import all_results, check_n_jobs
from kgroups._progress import Progress, check_progress
from kgroups._types import CSR, Floats, Ints, Symmetrize
from kgroups._validation import RngLike, as_rng, check_integer
from kgroups._wording import argument, counted, setting
from kgroups.adapters import as_graph
from kgroups.detect import detect_communities
from kgroups.errors import InputError, KGroupsWarning
from kgroups.generators import configuration_model
from kgroups.graph import Graph, canonical_order
from kgroups.spectrum import (
    BetheHessian,
    Moments,
    PartialEigenpairsError,
    all_eigenvalues,
    edge_of_noise,
    growth_of,
    has_structure,
    lanczos_pairs,
    moments,
    start_vector,
)

Test: TypeAlias = Literal["nulls", "moments", "none"]
Detectability: TypeAlias = Literal["detectable", "at the edge", "below"]
LEVEL = 0.05
"""Significance level: structure is claimed where p is at most this."""
# Nulls by default: p is then a multiple of 0.01.
_NULLS = 99
# With fewer nulls p cannot reach the level.
_FEWEST_NULLS = 19
# Largest graphs that are ranked among nulls by default, which takes about a minute on one core.
_RANKED_NODES, _RANKED_EDGES = 5_000, 100_000
# The moments' test has been measured from this number of nodes on (``benchmarks/nulls.py``).
_FEWEST_NODES_OF_MOMENTS = 500
# Below this number of edges no test can tell.
_FEWEST_EDGES = 10
# Eigenvalues closer than this are equal up to the error of the solver.
_TIE = 1e-8
# Tolerance of ARPACK; the error of an eigenvalue is about its square.
_TOLERANCE = 1e-6
# Swaps per edge on the way from the graph to the common ancestor of the nulls, and again from
# there to each null; after ten in all nothing of the graph is left but its degrees.
_SWAPS_PER_EDGE = 5.0


@dataclass(frozen=True, repr=False)
class Significance:
    """The verdict on a graph; ``print(verdict)`` shows it in a few sentences.

    Attributes
    ----------
    n, m : int
        Nodes with an edge, and edges, without self-loops and parallel edges.
    weighted : bool
        Whether the graph has weights, which the test does not use.
    test : {"nulls", "moments", "none"}
        How it was decided: by rank among random graphs with the same degrees, by the moments of
        the spectrum, or not at all because the graph has too few edges or cycles.
    significant : bool
        Whether there is structure: p is at most 0.05, or the signal exceeds its threshold.
    p : float or None
        ``(1 + #{nulls with an eigenvalue as large}) / (number of nulls + 1)``.
    eigenvalue : float or None
        Second eigenvalue of N_r at r = sqrt(rho(B)).
    null_eigenvalues : tuple of float
        The same of each null.
    signal, threshold : float or None
        Result of the moments' test and what it must exceed.
    snr : float or None
        Estimated signal-to-noise ratio of the clearest communities. Communities cannot be
        detected below 1, the Kesten-Stigum threshold; an estimate is never below.
    detectability : {"detectable", "at the edge", "below"} or None
        Where the signal-to-noise ratio lies relative to 1, up to the fluctuations of random
        graphs of this size. Without significant structure it is never "detectable".
    communities : int or None
        Number of communities that detection finds, isolated nodes left out.
    patches : int or None
        How many of them look like patches of a continuum, such as a grid; None where no component
        has three.

    Examples
    --------
    >>> import kgroups as kg
    >>> verdict = kg.significance(kg.datasets.load("karate").graph)
    >>> verdict.significant, verdict.p <= 0.05
    (True, True)
    """

    n: int
    m: int
    weighted: bool
    test: Test = "none"
    significant: bool = False
    p: float | None = None
    eigenvalue: float | None = None
    null_eigenvalues: tuple[float, ...] = ()
    signal: float | None = None
    threshold: float | None = None
    snr: float | None = None
    detectability: Detectability | None = None
    communities: int | None = None
    patches: int | None = None

    @property
    def nulls(self) -> int:
        """Number of random graphs that the graph was compared with."""
        return len(self.null_eigenvalues)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        if self.test == "none":
            few = f"the graph has {counted(self.m, 'edge')}"
            reason = few if self.m < _FEWEST_EDGES else "no component has more than one cycle"
            return f"There is too little to tell: {reason}."
        if self.test == "moments":
            relation = "exceeds" if self.significant else "does not exceed"
            reason = (
                f"the signal in its spectrum, {self.signal:.3g}, {relation} {self.threshold:.3g}"
            )
        else:
            larger = as_large(self.eigenvalue or 0.0, np.array(self.null_eigenvalues))
            if larger == self.nulls and np.ptp(self.null_eigenvalues) <= _TIE:
                return "There is too little to tell: graphs with these degrees hardly differ."
            who = (
                f"{larger or 'none'} of {self.nulls} has"
                if larger <= 1
                else f"{larger} of {self.nulls} have"
            )
            reason = (
                f"{who} a second eigenvalue of {self.eigenvalue:.3f} or more (p = {self.p:.2g})"
            )
        claim = "has more" if self.significant else "shows no more"
        return f"The graph {claim} structure than random graphs with its degrees: {reason}."

    def lines(self) -> list[str]:
        """Return the verdict as sentences."""
        lines = [self.sentence]
        if self.significant:
            lines += [self._about_communities(), self._about_snr()]
        if self.weighted and self.test != "none":
            lines.append("Edge weights were not used in the test.")
        return lines

    def _about_communities(self) -> str:
        """Return what structure beyond chance says of communities."""
        text, k = "That is structure beyond chance", self.communities
        if self.patches is None:
            where = "" if k is None or k < 3 else " in a component"
            return (
                f"{text}, which need not mean communities: fewer than three{where} cannot be told "
                "from patches of a continuum, such as a grid."
            )
        if not self.patches:
            return (
                f"{text}, and nothing shows the {k} communities that are found to be patches of a "
                "continuum, such as those of a grid."
            )
        which = f"not communities: the {k} that are found look"
        if self.patches != k:
            which = f"not communities alone: {self.patches} of {k} look"
        return (
            f"{text}, but {which} like patches of a continuum, whose borders could as well lie "
            "elsewhere."
        )

    def _about_snr(self) -> str:
        threshold = "the Kesten-Stigum threshold, which is 1"
        if self.detectability == "below":
            return (
                "Communities as faint as this are lost in the noise of large random graphs: the "
                f"signal-to-noise ratio is below {threshold}."
            )
        if self.detectability == "detectable":
            text, clearly = "Structure as strong as this can be detected", ""
        else:
            text = "Communities as faint as this can be lost in the noise of large random graphs"
            clearly = "not clearly "
        ratio = f"the signal-to-noise ratio is about {self.snr:.2f}"
        return f"{text}: {ratio}, {clearly}above {threshold}."

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        names = ("p", "signal", "snr")
        shown = [(name, getattr(self, name)) for name in names]
        values = ", ".join(f"{name}={value:.3g}" for name, value in shown if value is not None)
        return f"Significance(significant={self.significant}{values and ', '}{values})"

    def _repr_html_(self) -> str:
        facts = {
            "p": self.p,
            "second eigenvalue": self.eigenvalue,
            "signal": self.signal,
            "threshold": self.threshold,
            "signal-to-noise ratio": self.snr,
            "communities": self.communities,
        }
        # With three digits, as p can be small.
        shown = [
            (name, f"{value:.3g}" if isinstance(value, float) else value)
            for name, value in facts.items()
            if value is not None
        ]
        size = f"{counted(self.n, 'node')} and {counted(self.m, 'edge')}"
        return html_result(f"Structure of {size}", self.lines(), html_facts(shown))

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values that JSON can hold."""
        record = asdict(self)
        record["null_eigenvalues"] = list(self.null_eigenvalues)
        return {**record, "sentence": self.sentence}


def significance(
    graph: Any,
    *,
    nulls: int | None = None,
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: Progress = False,
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> Significance:
    r"""Test whether a graph has more structure than random graphs with its degrees.

    Parameters
    ----------
    graph : networkx or igraph graph, sparse or dense matrix, arrays, table, path, or Graph
        Undirected; see ``symmetrize`` for directed ones. Self-loops are dropped, and parallel
        edges are one edge.
    nulls : int, optional
        Number of random graphs with the same degrees to compare with, at least 19. By default 99
        up to 5,000 nodes and 100,000 edges. Beyond, or with 0, the moments' test is used, which
        draws no graphs and needs 500 nodes.
    rng : int, Generator or None
        Randomness of the nulls; ``None`` is a fixed stream, so that calls repeat.
    n_jobs : int or None
        Processes; -1 is one per core. ``None`` is one, or what ``joblib.parallel_config`` says.
        The result does not depend on it.
    progress : bool or callable
        True shows a bar on standard error if that is a terminal; a callable is called with the
        number of nulls done and their total.
    weight : str or None
        Edge attribute that holds the weights; ``None`` ignores them. The test is on which nodes
        are linked: an edge of weight 0 is none, and other weights only serve to detect the
        communities that may be patches.
    symmetrize : {"sum", "union"} or None
        How a directed graph becomes undirected.

    Returns
    -------
    Significance
        Prints as a few sentences.

    Raises
    ------
    InputError
        If the graph or an option is invalid.

    Notes
    -----
    The statistic is the second eigenvalue :math:`\nu_2` of :math:`N_r` at
    :math:`r = \sqrt{\rho(B)}` on the whole graph, components and all. Its rank among R random
    graphs with the same degrees, drawn by double-edge swaps and treated alike, gives
    :math:`p = (1 + \#\{\nu_2' \ge \nu_2\}) / (R + 1)`. If the graph is itself a random graph with
    its degrees, p is at most .05 with probability .05, whatever the degrees.

    Communities with signal-to-noise ratio s > 1 give :math:`\nu_2 = (s + 1/s)/2`, so that
    :math:`s = \nu_2 + \sqrt{\nu_2^2 - 1}`; on large graphs s is estimated from the moments.

    Structure is not always communities: a lattice, a ring or points in space have some, too.
    ``patches`` says how many of the communities that are found look like pieces of those.

    Examples
    --------
    >>> import kgroups as kg
    >>> from kgroups.generators import planted_partition
    >>> for snr in (0.0, 1.6):
    ...     graph, _ = planted_partition(400, k=2, degree=6.0, snr=snr, rng=0)
    ...     print(kg.significance(graph, nulls=19).significant)
    False
    True
    """
    number = None if nulls is None else check_integer("nulls", nulls, low=0)
    if number is not None and 0 < number < _FEWEST_NULLS:
        msg = (
            f"{argument('nulls')} must be 0 or at least {_FEWEST_NULLS}, got {number}: with fewer "
            f"p cannot be as small as {LEVEL:g}."
        )
        raise InputError(msg)
    check_n_jobs(n_jobs)
    check_progress(progress, "(done, total)")
    seeds = np.random.SeedSequence(int(as_rng(rng).integers(2**63)))
    (of_nulls,) = seeds.spawn(1)
    given = as_graph(graph, weight=weight, symmetrize=symmetrize)
    # In the order of the sorted names, so that the result does not depend on that of the input.
    order, _ = canonical_order(given)
    ordered = given if order is None else given.permuted(order, named=False)
    adjacency, nodes = without_isolated(ordered.simple_adjacency())
    verdict = Significance(nodes.size, len(adjacency.indices) // 2, given.is_weighted)
    if number == 0 and verdict.n < _FEWEST_NODES_OF_MOMENTS:
        msg = (
            f"{setting('nulls', 0)} needs {_FEWEST_NODES_OF_MOMENTS} nodes with an edge, got "
            f"{verdict.n}: the moments of a smaller graph do not tell.\n"
            f"  Leave {argument('nulls')} out to compare with random graphs."
        )
        raise InputError(msg)
    if verdict.m < _FEWEST_EDGES or cyclic_nodes(adjacency).size == 0:
        return verdict
    labels, patches = _detected(given)
    labels = labels if order is None else labels[order]
    verdict = replace(verdict, communities=np.unique(labels[nodes]).size, patches=patches)
    if number is None:
        large = verdict.n > _RANKED_NODES or verdict.m > _RANKED_EDGES
        number = 0 if large else _NULLS
    if number == 0:
        return _judged_by_moments(verdict, adjacency)
    simple = Graph(adjacency.indptr, adjacency.indices)
    with single_threaded(0):
        nu = second_eigenvalue(adjacency)
    values = null_eigenvalues(simple, number, of_nulls, n_jobs=n_jobs, progress=progress)
    return _judged_by_nulls(verdict, nu, values)


def _judged_by_nulls(verdict: Significance, nu: float, values: Floats) -> Significance:
    """Return the verdict with the rank of an eigenvalue among those of nulls."""
    p = (1 + as_large(nu, values)) / (values.size + 1)
    significant = p <= LEVEL
    noise = edge_of_noise(verdict.n) - 1.0
    detectability: Detectability = "at the edge" if nu >= 1.0 - noise else "below"
    if significant and nu > 1.0 + noise:
        detectability = "detectable"
    return replace(
        verdict,
        test="nulls",
        significant=significant,
        p=p,
        eigenvalue=nu,
        null_eigenvalues=tuple(values.tolist()),
        snr=growth_of(max(nu, 1.0)),
        detectability=detectability,
    )


def _judged_by_moments(verdict: Significance, adjacency: CSR) -> Significance:
    """Return the verdict with the result of the moments' test."""
    found = moments_of(adjacency)
    significant = has_structure(found)
    return replace(
        verdict,
        test="moments",
        significant=significant,
        signal=found.signal,
        threshold=found.threshold,
        snr=found.s,
        detectability="detectable" if significant else "below",
    )


def _detected(graph: Graph) -> tuple[Ints, int | None]:
    """Return the communities that detection finds, and how many look like patches."""
    with warnings.catch_warnings():
        # Reasons to doubt the communities are no reasons to doubt the verdict.
        warnings.simplefilter("ignore", KGroupsWarning)
        found = detect_communities(graph)
    patches, report = None, found.report
    if report is not None and report.contiguity is not None:
        patches = report.patches
    return found.labels, patches


def as_large(nu: float, values: Floats) -> int:
    """Return how many values are at least as large as ``nu``, up to the error of the solver."""
    return int(np.count_nonzero(values >= nu - _TIE))


def cyclic_nodes(adjacency: CSR) -> Ints:
    """Return the nodes of the components that have at least two cycles.

    The others have no eigenvalue of N_r above 1 at any r > 1.
    """
    count, component = connected_components(adjacency)
    nodes = np.bincount(component, minlength=count)
    entries = np.bincount(component[rows_of(adjacency)], minlength=count)
    return np.flatnonzero((entries > 2 * nodes)[component])


def second_eigenvalue(adjacency: CSR, *, limits: DenseLimits = DENSE) -> float:
    """Return the second eigenvalue of N_r at r = sqrt(rho(B)), without weights.

    Equal eigenvalues of several components count each. There must be at least two nodes.
    """
    hessian = BetheHessian("nonbacktracking").bind(adjacency, weighted=False)
    if hessian.n > limits.eigenpairs:
        from scipy.sparse.linalg import LinearOperator

        matrix = hessian.normalized_matrix()
        try:
            first, vector = lanczos_pairs(matrix, 1, start_vector(hessian), tolerance=_TOLERANCE)
            x = vector[:, 0]

            # The first eigenvalue is moved to -1, so that a copy of it is found.
            def without_first(y: Floats) -> Floats:
                flat = y.reshape(hessian.n)
                return np.asarray(matrix @ flat - (first[0] + 1.0) * (x @ flat) * x)

            rest = LinearOperator(matrix.shape, matvec=without_first, dtype=float)
            start = np.random.default_rng(0).standard_normal(hessian.n)
            second, _ = lanczos_pairs(rest, 1, start - (x @ start) * x, tolerance=_TOLERANCE)
            return float(second[0])
        except PartialEigenpairsError:
            if hessian.n > limits.exact_counts:
                raise
    return float(all_eigenvalues(hessian, sign=1)[1])


def null_eigenvalues(
    graph: Graph,
    nulls: int,
    seeds: np.random.SeedSequence,
    *,
    n_jobs: int | None,
    progress: Progress,
) -> Floats:
    """Return the second eigenvalues of random graphs with the degrees of a simple graph.

    All nulls are drawn from one common ancestor, which is as many steps of a reversible chain away
    from the given graph as from each of them. So the given graph and the nulls are exchangeable
    where the given graph is itself a random one, and its rank among them is exactly uniform
    however slowly the chain mixes (Besag and Clifford, Biometrika 76, 1989).
    """
    first, *others = seeds.spawn(nulls + 1)
    run = partial(_null_eigenvalue, _rewired(graph, first))
    return np.array(all_results(run, others, n_jobs, "null", progress=progress))


def _null_eigenvalue(ancestor: Graph, seed: np.random.SeedSequence) -> float:
    # For matrices of any size, because other nulls use the other cores.
    with single_threaded(0):
        return second_eigenvalue(_rewired(ancestor, seed).csr)


def _rewired(graph: Graph, seed: np.random.SeedSequence) -> Graph:
    rng = np.random.default_rng(seed)
    return configuration_model(graph, swaps_per_edge=_SWAPS_PER_EDGE, rng=rng)


def moments_of(adjacency: CSR) -> Moments:
    """Return the moments of N_r at r = sqrt(rho(B)) on the components with at least two cycles.

    A second component with an eigenvalue above 1 is structure like any other.
    """
    hessian = BetheHessian("nonbacktracking").bind(adjacency, weighted=False)
    return moments(hessian.restrict(cyclic_nodes(adjacency)))


def without_isolated(adjacency: CSR) -> tuple[CSR, Ints]:
    """Return the graph on the nodes that have an edge, and these nodes."""
    nodes = np.flatnonzero(np.diff(adjacency.indptr))
    return restricted(adjacency, nodes), nodes
