"""What happened on the way to a partition; printed by nobody, read by whoever asks."""

from dataclasses import asdict, dataclass, field
from typing import Any

from kgroups.errors import KGroupsWarning

__all__ = ["RefinementReport", "Report", "SearchReport"]


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


_SEARCHES_SHOWN = 3


def _times(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


@dataclass(frozen=True)
class SearchReport:
    """What a search in one large component ended with.

    Attributes
    ----------
    regime : str
        "One" if the component looks random, "FewGroups" or "ManyGroups".
    why : str
        What the choice rests on.
    n, k : int
        Nodes of the component, and communities found in it.
    k_low, k_high : float or None
        Number of communities that the moments of the spectrum show, from and to.
    snr : float or None
        Their signal-to-noise ratio.
    nats : float or None
        What the communities save of the description of the component.
    resolution : float or None
        Resolution of the first moves.
    undecided : float or None
        Share of the nodes for which another community was nearly as good.
    steps : int
        Steps of a descent from many groups, 0 if there was none.
    hartigan : str
        Whether Hartigan moves on H_r were "kept", "dropped" or "not needed".
    """

    regime: str
    why: str
    n: int
    k: int
    k_low: float | None = None
    k_high: float | None = None
    snr: float | None = None
    nats: float | None = None
    resolution: float | None = None
    undecided: float | None = None
    steps: int = 0
    hartigan: str = "not needed"

    def sentence(self) -> str:
        """Say what the search ended with."""
        if self.regime == "One":
            return f"A component of {self.n} nodes is one community: {self.why}."
        found = "1 community" if self.k == 1 else f"{self.k} communities"
        said = [f"{self.regime} on a component of {self.n} nodes: {found}"]
        if self.k_low is not None and self.k_high is not None and self.snr is not None:
            said.append(
                f"the moments of the spectrum show {self.k_low:.0f} to {self.k_high:.0f} at a "
                f"signal-to-noise ratio of {self.snr:.2f}"
            )
        if self.nats is not None and self.nats > 0.0:
            said.append(f"the description is shorter by {self.nats:.1f} nats")
        elif self.nats is not None and self.k > 1:
            said.append("they are too faint for a description, and the eigenvectors decide")
        if self.undecided is not None:
            said.append(f"{100.0 * self.undecided:.1f} % of the nodes are undecided")
        return "; ".join(said) + "."


@dataclass(frozen=True)
class Report:
    """Record of one detection.

    Attributes
    ----------
    regime, why : str
        The regime used and the reason.
    n, m, n_components, n_isolated : int
        Size of the graph; components and isolated nodes as detection sees them.
    loops_dropped : int
        Self-loops that detection did not use.
    saturated_weights : int
        Edges whose weight came near r and was bent.
    r, r_choice : float, str
        Parameter of the Bethe Hessian and how it was chosen.
    k_given : int or None
        What the caller asked for.
    k_hat : int or None
        Number of negative eigenvalues of H_r; None when they were not counted, because labels were
        given or the graph is large.
    k_hat_low, k_hat_high : int or None
        Bounds on that number; they differ where ``k_hat`` is an estimate.
    k_found : int
        Number of communities.
    splits, merges : int
        Splits and merges by description length, and the nats they saved.
    ordering : str
        Where the canonical node order came from.
    from_above : int
        Components whose description is shorter when they are split from the whole down, so that
        the communities of the eigenvectors were not kept.
    searches : tuple of SearchReport
        Components that were not solved exactly, the largest first.
    visits : int
        Matrix entries that moments, filters, moves and merges have read.
    """

    regime: str
    why: str
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
    splits: int
    merges: int
    nats_saved: float
    uninformed: int
    ordering: str
    warnings: tuple[KGroupsWarning, ...] = field(default=(), compare=False)
    seconds: dict[str, float] = field(default_factory=dict)
    from_above: int = 0
    searches: tuple[SearchReport, ...] = ()
    visits: int = 0
    k_hat_low: int | None = None
    k_hat_high: int | None = None

    def lines(self) -> list[str]:
        """Return the record as sentences."""
        if self.k_hat is None and not self.searches:
            said = [f"r = {self.r:.4g} ({self.r_choice}).", self.about_k()]
        elif self.k_hat is None:
            said = [
                f"{self.regime} regime ({self.why}); r = {self.r:.4g} ({self.r_choice}).",
                self.about_k(),
            ]
        else:
            counted = ", ".join(f"{name} {count}" for name, count in self.methods.items())
            said = [
                f"{self.regime} regime ({self.why}); r = {self.r:.4g} ({self.r_choice}).",
                f"Counted per component: {counted or 'nothing to count'}.",
                self.about_k(),
            ]
        said += [search.sentence() for search in self.searches[:_SEARCHES_SHOWN]]
        if len(self.searches) > _SEARCHES_SHOWN:
            more = len(self.searches) - _SEARCHES_SHOWN
            said.append(f"{_times(more, 'smaller component')} went the same ways.")
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
        """Say in a sentence how the number of communities relates to the spectrum."""
        found = "1 community" if self.k_found == 1 else f"{self.k_found} communities"
        if self.k_hat is None and self.searches:
            asked = ", as asked for" if self.k_given is not None else ""
            parts = f" in {self.n_components} components" if self.n_components > 1 else ""
            return f"{found}{asked}{parts}; the eigenvalues were not counted in this regime."
        if self.k_hat is None:
            return f"{found}, as many as in the labels given."
        lie = "eigenvalue lies" if self.k_hat == 1 else "eigenvalues lie"
        counted = f"{self.k_hat} {lie} above the threshold"
        if self.k_hat_low != self.k_hat_high:
            counted = (
                f"about {self.k_hat} {lie} above the threshold, an estimate between "
                f"{self.k_hat_low} and {self.k_hat_high}"
            )
        if self.k_given is not None:
            return f"{found}, as asked for; {counted}."
        reasons = []
        if self.n_components > 1:
            reasons.append(f"each of the {self.n_components} components has at least one")
        if self.splits:
            reasons.append(
                f"{_times(self.splits, 'split')} of groups too small for the threshold and "
                f"{_times(self.merges, 'merge')} shorten the description of the graph by "
                f"{self.nats_saved:.1f} nats"
            )
        if self.from_above:
            parts = _times(self.from_above, "component")
            reasons.append(f"splitting {parts} from the whole down gives a shorter description")
        if self.k_found != self.k_hat and not reasons:
            reasons.append("a connected graph is at least one community")
        return f"{found}; {counted}{'; ' if reasons else ''}{'; '.join(reasons)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values that JSON can hold."""
        record = asdict(self)
        record["searches"] = list(record["searches"])
        record["warnings"] = [
            {"kind": type(warning).__name__, "message": str(warning)} for warning in self.warnings
        ]
        return record
