"""Refinement of labels: what a method receives and returns, and Hartigan moves.

A new method is a class with a method ``refine``; see :class:`Refiner`. :class:`Hartigan` is guarded
by the likelihood of the planted partition model.
"""

import math
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    runtime_checkable,
)

import numpy as np

from kgroups._csr import diagonal_of, inner_weights, rows_of, writable
from kgroups._progress import new_control, run_kernel
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups._validation import changed_options, check_choice, check_integer, check_real, is_real
from kgroups.errors import InputError
from kgroups.hartigan._hartigan_nb import move_nodes
from kgroups.spectrum import BoundOperator

if TYPE_CHECKING:
    from kgroups.search import Problem

ROUNDING = 1e-12
"""Differences of likelihoods and of expected edges below this share are rounding."""
# Smallest node weight in units of the mean degree; smaller ones would vanish in the sums s_a.
_LEAST_NODE_WEIGHT = 1e-6
Candidates: TypeAlias = Literal["neighbors", "all"]
Weights: TypeAlias = Literal["association", "uniform", "gram"]


class Groups(NamedTuple):
    """Sums over the nodes of each group, kept up to date while nodes move."""

    # Node weights.
    s: Floats
    # Association: matrix entries between nodes of the group, diagonal included.
    Q: Floats
    # Number of nodes.
    size: Ints

    def objective(self) -> float:
        """Return the sum of Q_a / s_a; an empty group adds nothing."""
        filled = self.s > 0
        return float(np.sum(self.Q[filled] / self.s[filled]))


def check_labels(z: Ints, k: int) -> None:
    """Raise unless every label lies in ``range(k)``; the kernels do not check bounds."""
    bad = np.flatnonzero((z < 0) | (z >= k))
    if bad.size:
        msg = f"labels must lie in range({k}), got {z[bad[0]]} for node {bad[0]}."
        raise InputError(msg)


def group_sums(z: Indices, values: Floats, k: int) -> Floats:
    """Return the sum of values over each of ``k`` groups."""
    return np.asarray(np.bincount(z, weights=values, minlength=k), dtype=float)


def group_totals(M: CSR, diagonal: Floats, w: Floats, z: Ints, *, k: int) -> Groups:
    """Return weight, association and size of every group.

    ``diagonal`` holds the diagonal of the symmetric matrix M, whose own entries there are ignored;
    ``w`` are positive node weights, and labels lie in ``range(k)``.
    """
    check_labels(z, k)
    rows = rows_of(M)
    inside = (rows != M.indices) & (z[rows] == z[M.indices])
    Q = group_sums(z, diagonal, k) + group_sums(z[rows[inside]], M.data[inside], k)
    return Groups(group_sums(z, w, k), Q, np.bincount(z, minlength=k))


def group_association(M: CSR, diagonal: Floats, w: Floats, z: Ints, *, k: int) -> float:
    r"""Return the weighted group association Q of a labeling.

    .. math:: Q(z) = \sum_a Q_a / s_a, \quad
        Q_a = \sum_{z_i = z_j = a} M_{ij}, \quad s_a = \sum_{z_i = a} w_i

    An empty group adds nothing. Parameters are those of :func:`group_totals`; the equation is
    *group-association* of the theory page.

    Examples
    --------
    >>> swap = CSR(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 1.0]))
    >>> group_association(swap, np.zeros(2), np.ones(2), np.array([0, 0]), k=2)  # edge inside
    1.0
    >>> group_association(swap, np.zeros(2), np.ones(2), np.array([0, 1]), k=2)  # edge cut
    0.0
    """
    return group_totals(M, diagonal, w, z, k=k).objective()


class Outcome(NamedTuple):
    """Labels after the last sweep, the totals of their groups, and the work done."""

    z: Ints
    objective: float
    sweeps: int
    moves: int
    visits: int
    converged: bool
    s: Floats
    Q: Floats


def improve(
    M: CSR,
    diagonal: Floats,
    w: Floats,
    z: Ints,
    *,
    k: int,
    candidates: Candidates = "neighbors",
    margin: float = 0.0,
    max_sweeps: int = 100,
) -> Outcome:
    r"""Move nodes one at a time while the group association Q rises; no group is emptied.

    Moving node i from a to b changes Q by

    .. math:: \Delta Q = \frac{w_i Q_a/s_a - 2 Q_a(i) + M_{ii}}{s_a - w_i}
        - \frac{w_i Q_b/s_b - 2 Q_b(i) - M_{ii}}{s_b + w_i}

    with :math:`Q_a(i) = \sum_{j \in a} M_{ij}`. The node goes where the gain is largest; ties go
    to the group with the lowest number. One sweep costs O(nnz) with neighboring groups as
    candidates and O(nnz + n k) with all of them.

    Parameters
    ----------
    M : CSR of shape (n, n)
        Any symmetric matrix; its diagonal entries are ignored, ``diagonal`` holds them.
    diagonal, w : ndarray of shape (n,)
        Diagonal of M, and positive node weights.
    z : ndarray of shape (n,)
        First labels in ``range(k)``; not modified.
    k : int
        Number of groups.
    candidates : {"neighbors", "all"}
        Which groups a node may join.
    margin : float
        Least gain of a move, in units of the mean absolute entry of M.
    max_sweeps : int
        Sweeps after which the labels are returned as they are, ``converged`` false.

    Returns
    -------
    Outcome
        ``visits`` counts the entries of M that the sweeps read: nnz in every sweep.
    """
    check_labels(z, k)
    whole, every = np.array([0, z.size]), np.zeros(1, dtype=np.int64)
    found = improve_components(
        M,
        diagonal,
        w,
        whole,
        every,
        np.array([k]),
        z,
        candidates=candidates,
        margin=margin,
        max_sweeps=max_sweeps,
    )
    sweeps, moves, converged = found.done[0].tolist()
    objective = found.groups.objective()
    visits = sweeps * len(M.indices)
    s, Q, _ = found.groups
    return Outcome(found.z, objective, sweeps, moves, visits, bool(converged), s, Q)


class Improved(NamedTuple):
    """Labels after the last sweep in some components, and the work done."""

    # Labels from 0 in each component.
    z: Ints
    groups: Groups
    # For each component: sweeps, moves, and 1 if the last sweep moved nothing.
    done: Ints


def improve_components(
    M: CSR,
    diagonal: Floats,
    w: Floats,
    offsets: Ints,
    which: Ints,
    k: Ints,
    z: Ints,
    *,
    candidates: Candidates,
    margin: float,
    max_sweeps: int,
) -> Improved:
    """Apply :func:`improve` to some components of a graph.

    ``offsets`` says where they start; they have ``k`` groups, whose labels start from 0 in each.
    """
    counts = np.zeros_like(k)
    counts[which] = k[which]
    firsts = np.concatenate([[0], np.cumsum(counts)])
    total, most = int(firsts[-1]), int(counts.max(initial=0))
    groups = Groups(np.zeros(total), np.zeros(total), np.zeros(total, dtype=np.int64))
    z, done = z.astype(np.int64, copy=True), np.zeros((k.size, 3), dtype=np.int64)
    # Equal entries are one number with stride 0; the kernel takes an array of one.
    data = M.data[:1] if M.data.strides == (0,) else M.data
    run_kernel(
        move_nodes,
        len(M.indices),
        *map(writable, (M.indptr, M.indices, data, diagonal, w)),
        offsets,
        which,
        firsts,
        candidates == "all",
        float(margin),
        int(max_sweeps),
        z,
        *groups,
        np.zeros(most),
        np.zeros(most, dtype=np.bool_),
        np.empty(most, dtype=np.int64),
        done,
        new_control(),
    )
    return Improved(z, groups, done)


class PlantedFit(NamedTuple):
    """Gain in nats over the graph without communities, and the rates that give it."""

    gain: float
    inside: float
    between: float


def planted_fit(A: CSR, strength: Floats, z: Ints, *, k: int) -> PlantedFit:
    r"""Fit edge rates inside and between groups, relative to degrees alone.

    .. math:: \ell(z) = E_{in} \ln\frac{E_{in}}{P_{in}} + E_{out} \ln\frac{E_{out}}{P_{out}},
        \quad P_{in} = \sum_a \frac{K_a^2}{4m}, \quad P_{out} = m - P_{in}

    The gain is 0 for disassortative groups. Weights are counted in units of their mean, so that
    their scale does not matter.
    """
    groups = np.bincount(z, weights=strength, minlength=k)
    inner, total = float(inner_weights(A, z, k).sum()), float(strength.sum())
    return fit_of_sums(len(A.indices), inner, total, float(groups @ groups))


def fit_of_sums(entries: int, inner: float, total: float, squares: float) -> PlantedFit:
    """Return the fit of groups with ``inner`` of the edge weight, and squared strengths."""
    if total <= 0.0:
        return PlantedFit(0.0, 1.0, 1.0)
    inner, expected = 2.0 * inner, squares / total
    outer, rest = total - inner, total - expected
    inside, between = inner / expected, outer / rest if rest > ROUNDING * total else 1.0
    gain = 0.0
    if inside > between:
        if inner > 0.0:
            gain += inner * math.log(inside)
        if outer > 0.0 and between > 0.0:
            gain += outer * math.log(between)
    # Weights are counted in units of their mean.
    return PlantedFit(0.5 * entries / total * gain, inside, between)


class Refinement(NamedTuple):
    """Refined labels, and the work that they took.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels in ``range(k)``, none of them unused.
    kept : str
        Which labels these are, if a method chooses between several.
    objective : float
        The objective of the method after its last sweep.
    sweeps, moves, visits : int
        Sweeps over all nodes, nodes moved, and matrix entries read.
    converged : bool
        Whether no further sweep would change the labels.
    model : str
        The model that the method chose, if it chooses one.
    """

    z: Ints
    kept: str = "refined labels"
    objective: float = float("nan")
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True
    model: str = ""


@runtime_checkable
class Refiner(Protocol):
    """A refinement method, to be passed as ``refine=`` to :func:`kgroups.detect_communities`.

    Give it a ``repr`` with its parameters, which the report shows, and a ``name`` if sentences of
    the report should use one. Equal values should compare equal, as frozen dataclasses do.

    Examples
    --------
    >>> class Unchanged:
    ...     def refine(self, problem, labels):
    ...         return Refinement(labels)
    >>> isinstance(Unchanged(), Refiner)
    True
    """

    def refine(self, problem: "Problem", labels: Ints) -> Refinement:
        """Return labels of as many non-empty groups of a graph; ``labels`` is not modified."""


def refine_labels(
    refiner: Refiner, problem: "Problem", labels: Ints, k: Ints, which: Ints
) -> list[Refinement]:
    """Refine labels of some components, and raise unless every group keeps a node.

    Labels start from 0 in each component. :class:`Hartigan` refines all of them at once, another
    method one after the other.
    """
    if isinstance(refiner, Hartigan):
        return refiner.refine_components(problem, labels, k, which)
    return [
        _refined(refiner, problem.part(c), labels[problem.rows(c)], int(k[c]))
        for c in which.tolist()
    ]


def refine_whole(refiner: Refiner, problem: "Problem", labels: Ints) -> Refinement:
    """Refine labels of a whole graph, whose groups may lie in several components."""
    k, one = np.array([int(labels.max()) + 1]), np.zeros(1, dtype=np.int64)
    return refine_labels(refiner, problem.as_one(), labels, k, one)[0]


def _refined(refiner: Refiner, problem: "Problem", labels: Ints, k: int) -> Refinement:
    found = refiner.refine(problem, labels)
    z = np.asarray(found.z)
    if z.shape != labels.shape or not np.array_equal(np.unique(z), np.arange(k)):
        msg = (
            f"refine must return a label in range({k}) for each of {labels.size} nodes and "
            f"leave no group empty, got {found.z!r} from {refiner!r}."
        )
        raise InputError(msg)
    return found


@dataclass(frozen=True)
class Hartigan:
    """Refine labels by kernel k-groups on the Bethe Hessian.

    Parameters
    ----------
    weights : {"association", "uniform", "gram"}
        Matrix M and node weights w of the objective: ``"association"`` is M = -H_r with
        w = Δ_r (best on unequal degrees), ``"uniform"`` is M = -H_r with w = 1 (the paper's tables
        of real networks), ``"gram"`` is M = -D H_r D with w = d (its figure of block models).
    candidates : {"neighbors", "all"}
        Groups that a node may join: those of its neighbors, or all.
    margin : float
        Least gain of a move, in units of the mean entry of M. The first labels carry more
        information than the neighbors of one node, so they decide near-ties; 0 is the paper's
        rule.
    max_sweeps : int
        Sweeps over all nodes before giving up on convergence.
    guard : float or None
        Largest relative shortfall of the planted-partition likelihood of the refined labels,
        compared with labels moved on that likelihood itself from the same start. Refined labels
        with a larger shortfall have lost communities to one giant, so the other labels are kept.
        ``None`` always keeps the refined labels, as the paper does.

    Examples
    --------
    >>> Hartigan(candidates="all").margin
    0.25
    >>> paper = Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None)
    """

    weights: Weights = "association"
    candidates: Candidates = "neighbors"
    margin: float = 0.25
    max_sweeps: int = 100
    guard: float | None = 0.2

    name: ClassVar[str] = "Hartigan refinement"
    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, ("association", "uniform", "gram"))
        check_choice("candidates", self.candidates, ("neighbors", "all"))
        check_real("margin", self.margin, low=0.0, what="number of edges")
        check_integer("max_sweeps", self.max_sweeps)
        if self.guard is not None and not (is_real(self.guard) and 0.0 <= self.guard < 1.0):
            msg = f"guard must be None or a number from 0 to below 1, got {self.guard!r}."
            raise InputError(msg)

    def objective(
        self, hessian: BoundOperator, d: Floats, offsets: Ints | None = None
    ) -> tuple[CSR, Floats, Floats]:
        """Return M, its diagonal, and the node weights w; M's own diagonal entries are ignored.

        ``offsets`` says where components start; without it all nodes count as one.
        """
        M = hessian.coupling
        diagonal = diagonal_of(M) - hessian.scale
        if self.weights == "uniform":
            return M, diagonal, np.ones(hessian.n)
        if self.weights == "association":
            return M, diagonal, hessian.scale
        offsets = np.array([0, d.size]) if offsets is None else offsets
        sizes, entries = np.diff(offsets), np.diff(M.indptr[offsets])
        part = np.repeat(np.arange(sizes.size), sizes)
        total = np.bincount(part, d, minlength=sizes.size)
        least = _LEAST_NODE_WEIGHT * total / np.maximum(sizes, 1)
        # A node without edges has the weight of an edge of mean weight.
        isolated = np.where(entries > 0, total / np.maximum(entries, 1), 1.0)
        scale = np.where(d > 0.0, np.maximum(d, least[part]), isolated[part])
        scaled = CSR(M.indptr, M.indices, scale[rows_of(M)] * M.data * scale[M.indices])
        return scaled, diagonal * scale * scale, scale

    def refine(self, problem: "Problem", labels: Ints) -> Refinement:
        """Move nodes while the objective rises; the guard may replace the result."""
        return refine_whole(self, problem, labels)

    def refine_components(
        self, problem: "Problem", labels: Ints, k: Ints, which: Ints
    ) -> list[Refinement]:
        """Refine labels of ``k`` groups in each of some components, which start from 0 in each."""
        M, diagonal, w = self.objective(problem.hessian, problem.strength, problem.offsets)
        found = improve_components(
            M,
            diagonal,
            w,
            problem.offsets,
            which,
            k,
            labels,
            candidates=self.candidates,
            margin=self.margin,
            max_sweeps=self.max_sweeps,
        )
        z, kept = found.z, dict.fromkeys(which.tolist(), "hartigan")
        if self.guard is not None:
            z = self._guarded(problem, labels, z, k, which[k[which] > 1], kept)
        ends = np.cumsum(k[which])
        groups = zip(ends - k[which], ends, strict=True)
        refined = []
        for c, (first, last) in zip(which.tolist(), groups, strict=True):
            sweeps, moves, converged = found.done[c].tolist()
            s, Q, size = found.groups
            own = Groups(s[first:last], Q[first:last], size[first:last])
            visits, rows = sweeps * int(problem.entries[c]), problem.rows(c)
            outcome = own.objective(), sweeps, moves, visits, bool(converged)
            refined.append(Refinement(z[rows], kept[c], *outcome))
        return refined

    def _guarded(
        self, problem: "Problem", labels: Ints, z: Ints, k: Ints, which: Ints, kept: dict[int, str]
    ) -> Ints:
        """Return refined labels, or likelier rivals, and name which is kept in each component.

        The rival is what moves on the likelihood reach from the first labels. It is kept if the
        refined labels fall short of it by more than the share ``guard``. In a large graph it is
        tried only if they are less likely than the first labels, as it costs more than Hartigan
        moves.
        """
        level = problem.level
        which = which[level.entries[which] > 0]
        reached = [fit.gain for fit in problem.planted_fits(z, k, which)]
        if problem.fast:
            lost = [
                gain < fit.gain
                for gain, fit in zip(reached, problem.planted_fits(labels, k, which), strict=True)
            ]
            which, reached = (
                which[lost],
                [gain for gain, one in zip(reached, lost, strict=True) if one],
            )
        if not which.size:
            return z
        rival, share = problem.likelihood_moves(labels, k, which), 1.0 - float(self.guard or 0.0)
        likely = zip(which.tolist(), reached, problem.planted_fits(rival, k, which), strict=True)
        for c, gain, fit in likely:
            if gain < share * fit.gain:
                rows = problem.rows(c)
                same = np.array_equal(rival[rows], labels[rows])
                z[rows], kept[c] = rival[rows], "first labels" if same else "likelihood moves"
        return z
