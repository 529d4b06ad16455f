"""What happened on the way to a partition, for callers who ask; nothing is printed."""

from dataclasses import asdict, dataclass, field
from typing import Any

from kgroups.errors import KGroupsWarning

__all__ = ["ComponentReport", "RefinementReport", "Report", "beside_spectrum"]


@dataclass(frozen=True)
class RefinementReport:
    """Sums over the components that were refined."""

    method: str
    components: int = 0
    kept: dict[str, int] = field(default_factory=dict)
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True

    def sentence(self) -> str:
        """Say what the refinement did."""
        end = "converged" if self.converged else "stopped before it converged"
        done = f"Hartigan refinement: {_times(self.sweeps, 'sweep')}, {_times(self.moves, 'move')}"
        others = [
            f"{name} in {_times(count, 'component')}"
            for name, count in self.kept.items()
            if name != "hartigan"
        ]
        instead = f"; the guard kept {' and '.join(others)} instead" if others else ""
        return f"{done}, {end}{instead}."


def _times(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _communities(count: int) -> str:
    return "1 community" if count == 1 else f"{count} communities"


def beside_spectrum(k: int, k_hat: int) -> str:
    """Say how a number of communities and one of eigenvalues go together, if they differ."""
    if k_hat < k:
        return ", which need not show small or faint communities"
    if k_hat > k:
        return ", not all of which are communities worth their description"
    return ""


@dataclass(frozen=True)
class ComponentReport:
    """Which candidate won in one component, and why.

    Attributes
    ----------
    n, k : int
        Nodes of the component, and communities found in it.
    winner : {"search", "eigenvectors", "one community", "pairs of nodes"}
        The candidate that won; the last one if small communities were split after that.
    why : str
        The reason, in a sentence.
    nats : float
        What the communities save of the description of the component.
    evidence : float or None
        What they save by belief propagation, where that decided.
    k_hat : int or None
        Eigenvalues above the threshold in the component, where they were counted.
    undecided : float or None
        Share of the nodes for which another community is nearly as good, if the search won.
    component : int
        Number of the component, in the order of its first node.
    """

    n: int
    k: int
    winner: str
    why: str
    nats: float = 0.0
    evidence: float | None = None
    k_hat: int | None = None
    undecided: float | None = None
    component: int = 0

    def sentence(self) -> str:
        """Say which candidate won, and why."""
        said = f"{_communities(self.k)} in a component of {_times(self.n, 'node')}: {self.reason()}"
        return said + "."

    def reason(self) -> str:
        """Return why it has its communities, reconciled with the eigenvalues if counted."""
        said = self.why
        if self.k_hat is not None and self.k_hat != self.k:
            lie = "eigenvalue lies" if self.k_hat == 1 else "eigenvalues lie"
            said += f"; {self.k_hat} {lie} above the threshold{beside_spectrum(self.k, self.k_hat)}"
        if self.undecided:
            said += f"; {100.0 * self.undecided:.1f} % of the nodes are undecided"
        return said


@dataclass(frozen=True)
class Report:
    """Record of one detection.

    Attributes
    ----------
    regime : str
        The way that was asked for.
    n, m, n_components, n_isolated : int
        Size of the graph; components and isolated nodes as detection sees them.
    loops_dropped : int
        Self-loops that detection did not use.
    saturated_weights : int
        Edges whose weight came near r and was saturated.
    r, r_choice : float, str
        Parameter of the Bethe Hessian and how it was chosen.
    k_given : int or None
        What the caller asked for.
    k_hat : int or None
        Number of negative eigenvalues of H_r, where all components were counted.
    k_hat_low, k_hat_high : int or None
        Bounds on that number; they differ where ``k_hat`` is an estimate.
    k_found : int
        Number of communities.
    components : tuple of ComponentReport
        Which candidate won in the largest components, and why.
    ordering : str
        Where the canonical node order came from.
    visits : int
        Matrix entries that moments, filters, moves and merges have read.
    """

    regime: str
    n: int
    m: int
    n_components: int
    n_isolated: int
    loops_dropped: int
    saturated_weights: int
    r: float
    r_choice: str
    k_given: int | None
    k_hat: int | None
    k_found: int
    methods: dict[str, int]
    init: str
    refinement: RefinementReport
    uninformed: int
    ordering: str
    warnings: tuple[KGroupsWarning, ...] = field(default=(), compare=False)
    seconds: dict[str, float] = field(default_factory=dict)
    components: tuple[ComponentReport, ...] = ()
    visits: int = 0
    k_hat_low: int | None = None
    k_hat_high: int | None = None

    @property
    def why(self) -> str:
        """Why the largest component has the communities it has."""
        return self.components[0].why if self.components else "labels were given"

    def lines(self) -> list[str]:
        """Return the record as sentences."""
        said = [self.about_k()]
        if self.n_components > 1 or self.k_given is not None:
            said += [component.sentence() for component in self.components]
        if self.k_hat is not None:
            counted = ", ".join(f"{count} {name}" for name, count in self.methods.items())
            said.append(f"Components whose eigenvalues were counted: {counted or 'none'}.")
        said.append(f"r = {self.r:.4g} ({self.r_choice}).")
        if self.refinement.components:
            said.append(self.refinement.sentence())
        if self.uninformed:
            said.append(
                f"{self.uninformed} nodes lie in components without signal: "
                "they joined the largest community."
            )
        if self.loops_dropped:
            said.append(f"{self.loops_dropped} self-loops were not used.")
        if self.saturated_weights:
            said.append(f"{self.saturated_weights} heavy edge weights were saturated.")
        if self.ordering == "input order":
            said.append(
                "The node names cannot be sorted: another order of the nodes may give "
                "other communities."
            )
        return said + [f"Warning: {warning}" for warning in self.warnings]

    def about_k(self) -> str:
        """Say in a sentence how many communities there are, and what that rests on."""
        found = _communities(self.k_found)
        parts = f" in {self.n_components} components" if self.n_components > 1 else ""
        if self.regime == "None":
            return f"{found}{parts}, as many as in the labels given."
        if self.k_given is not None:
            return f"{found}{parts}, as asked for."
        if not self.components:
            return f"{found}."
        first = self.components[0]
        if self.n_components == 1:
            return f"{found}: {first.reason()}."
        return f"{found}{parts}."

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values that JSON can hold."""
        record = asdict(self)
        record["components"] = list(record["components"])
        record["warnings"] = [
            {"kind": type(warning).__name__, "message": str(warning)} for warning in self.warnings
        ]
        return record
