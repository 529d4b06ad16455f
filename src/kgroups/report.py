"""The record of a detection: what was found, which candidate won, and why."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from kgroups._output import html_beside, html_facts, html_lines
from kgroups._wording import counted, counted_communities
from kgroups.errors import ContinuumWarning, KGroupsWarning

# Bytes from which on memory is shown: less is mostly what modules take that are loaded meanwhile.
_LEAST_SHOWN = 10_000_000
# Nats from which on a description is clearly better: odds of 100 to 1.
_CLEAR = math.log(100.0)


def how_clearly(nats: float) -> str:
    """Return how clearly one description is better than another, by the nats between them.

    >>> how_clearly(4.7), how_clearly(4.5)
    ('clearly', 'slightly')
    """
    return "clearly" if nats >= _CLEAR else "slightly"


def spectrum_shows(k: int, k_hat: int, *, single: int = 0, exact: bool = True) -> str:
    """Return a clause on how many communities the spectrum shows, of which ``k`` were found.

    It does not count those that are ``single`` nodes.
    """
    several = k - single or k
    shown = f"{'' if exact else 'about '}{k_hat}" if k_hat else "none"
    if k_hat < several:
        return f"the spectrum, which can miss small or faint communities, shows {shown}"
    if k_hat > several:
        return f"the spectrum shows {shown} eigenvalues, not all of which show a community"
    return f"the spectrum shows {shown}, too{', single nodes left out' if several < k else ''}"


def about_uninformed(nodes: int) -> list[str]:
    """Return a sentence on nodes whose community says nothing about them, if there are any."""
    lie = counted(nodes, "node lies", "nodes lie")
    return [f"{lie} in components without signal, assigned to the largest community."] * (nodes > 0)


@dataclass(frozen=True)
class RefinementReport:
    """Totals over all refinements: one for each number of communities tried in a component.

    ``method`` shows the options of the refinement; ``name`` is its name in sentences.
    """

    method: str
    components: int = 0
    kept: dict[str, int] = field(default_factory=dict, hash=False)
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True
    models: dict[str, int] = field(default_factory=dict, hash=False)
    name: str = "Refinement"

    def sentence(self) -> str:
        """Return a sentence on what the refinement did."""
        end = "converged" if self.converged else "stopped before it converged"
        work = f"{counted(self.sweeps, 'sweep')}, {counted(self.moves, 'move')}"
        others = [
            f"{name} in {counted(count, 'component')}"
            for name, count in self.kept.items()
            if name not in ("hartigan", "refined labels")
        ]
        instead = f"; the guard kept {' and '.join(others)} instead" if others else ""
        models = " and ".join(self.models)
        return f"{self.name}{models and f' ({models})'}: {work}, {end}{instead}."


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
        """Return a sentence on the communities of the component and why they were chosen."""
        where = f"in a component of {counted(self.n, 'node')}"
        return f"{counted_communities(self.k)} {where}: {self.reason()}."

    def reason(self) -> str:
        """Return why the component has its communities, reconciled with k_hat if counted."""
        text = self.why
        if self.k_hat is not None and self.k_hat != self.k:
            text += f"; {spectrum_shows(self.k, self.k_hat)}"
        if self.undecided:
            text += f"; {100.0 * self.undecided:.1f} % of the nodes are undecided"
        return text


@dataclass(frozen=True)
class Report:
    """Record of one detection; ``print(report)`` shows it in a few lines.

    Attributes
    ----------
    method : str
        The method that was requested: "Auto", "Search" or "Spectral", or "given labels".
    n, m, n_components, n_isolated : int
        Size of the graph; components and isolated nodes as detection sees them.
    loops_dropped : int
        Self-loops that detection did not use.
    saturated_weights : int
        Edges whose weight came near r and was saturated.
    r, r_choice : float and str, or None
        Parameter of the Bethe Hessian and how it was chosen; None for another operator.
    k_given : int or None
        The number of communities that was requested.
    k_hat : int or None
        Number of negative eigenvalues of H_r, where all components were counted.
    k_hat_low, k_hat_high : int or None
        Bounds on that number; they differ where ``k_hat`` is an estimate.
    k_found : int
        Number of communities.
    counting : dict
        How the eigenvalues were counted, and in how many components.
    warnings : tuple of KGroupsWarning
        Reasons to doubt the result, which were also issued by ``warnings.warn``.
    components : tuple of ComponentReport
        Which candidate won in the largest components, and why.
    ordering : str
        Where the canonical node order came from.
    seconds : dict
        Duration of each stage.
    visits : int
        Matrix entries that moments, filters, moves and merges have read.
    peak_bytes : int or None
        Largest rise of the resident memory of the process during the call, in bytes. It includes
        everything that was allocated and not yet freed, such as arrays of kernels and a graph read
        from a file, but not a graph that was given in memory, nor freed memory that is used again.
        None on systems without the ``/proc`` of Linux, from which it is read. Exact if no earlier
        peak of the process was higher; otherwise the largest of about 20 readings a second in long
        work. What other threads allocate counts, too.
    dispersion : float
        What the evidence of edges was divided by, because edges are correlated; 1 where they count
        in full. ``nats`` of components are after that division.
    contiguity : float or None
        How often, relative to chance, two links that leave a community from two linked nodes lead
        to the same other community: 1 where communities explain all links, more where they are
        patches. It is that of one component: the one with most patches, or the largest if there are
        none. None if no component has three communities, if ``k`` was given and differs from the
        number found without it, or if labels were given. On a large graph it is measured on a
        sample, unless it is clearly above 1.5 there.
    separation : float or None
        What it costs to merge the communities of that component in pairs, over what it would cost
        if the merged ones were not linked. None where the contiguity is not clearly above 1.5.
    n_single : int
        How many of the communities are single nodes.
    patches : int
        Communities that look like patches of a continuum, because the contiguity of their component
        is clear and its separation below a half. If there are any, there is a
        :exc:`~kgroups.errors.ContinuumWarning`.
    about_weights : str
        Which column the weights were read from, their range, and which columns are not used, for
        edges that came in columns.
    nodes_new, nodes_vanished : int
        Nodes that the labels to start from did not have, each of which started alone, and nodes of
        these labels that the graph does not have; see :class:`kgroups.WarmStart`.
    """

    method: str
    n: int
    m: int
    n_components: int
    n_isolated: int
    loops_dropped: int
    saturated_weights: int
    r: float | None
    r_choice: str | None
    k_given: int | None
    k_hat: int | None
    k_found: int
    counting: dict[str, int] = field(hash=False)
    init: str
    refinement: RefinementReport
    uninformed: int
    ordering: str
    warnings: tuple[KGroupsWarning, ...] = field(default=(), compare=False)
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    components: tuple[ComponentReport, ...] = ()
    visits: int = 0
    k_hat_low: int | None = None
    k_hat_high: int | None = None
    peak_bytes: int | None = field(default=None, compare=False)
    dispersion: float = 1.0
    contiguity: float | None = None
    separation: float | None = None
    patches: int = 0
    n_single: int = 0
    about_weights: str = ""
    nodes_new: int = 0
    nodes_vanished: int = 0

    @property
    def why(self) -> str:
        """Why the largest component has the communities it has."""
        return self.components[0].why if self.components else "labels were given"

    @property
    def labels_given(self) -> bool:
        """Whether labels were given, and refined: no candidates competed."""
        return self.method == "given labels"

    def __str__(self) -> str:
        size = f"{counted(self.n, 'node')}, {counted(self.m, 'edge')}."
        stages = ", ".join(f"{name} {spent:.3f}" for name, spent in self.seconds.items())
        time = [f"{sum(self.seconds.values()):.3f} s: {stages}."] if stages else []
        memory = []
        if self.peak_bytes is not None and self.peak_bytes >= _LEAST_SHOWN:
            memory = [f"At most {self.peak_bytes / 1e6:.0f} MB of memory."]
        return "\n".join([size, *self.lines(), *time, *memory])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the result, how it was reached, and times."""
        facts: list[tuple[str, object]] = [
            ("nodes", self.n),
            ("edges", self.m),
            ("components", self.n_components),
            ("isolated nodes", self.n_isolated),
            ("communities", self.k_found),
        ]
        if self.k_hat is not None:
            exact = self.k_hat_low == self.k_hat_high
            about = self.k_hat if exact else f"about {self.k_hat}"
            facts.append(("eigenvalues above the threshold", about))
        times = html_facts((name, f"{spent:.3f} s") for name, spent in self.seconds.items())
        beside = html_beside(html_facts(facts), times if self.seconds else "")
        return beside + html_lines(self.lines())

    def lines(self) -> list[str]:
        """Return the result and how it was reached as sentences."""
        lines = [self.about_k(), *self.about_components()]
        if self.nodes_new or self.nodes_vanished:
            new, gone = counted(self.nodes_new, "node is new", "nodes are new"), self.nodes_vanished
            lines.append(
                f"Since the labels to start from, {new} and started alone; "
                f"{counted(gone, 'node has', 'nodes have')} vanished."
            )
        lines += about_uninformed(self.uninformed)
        if self.about_weights:
            lines.append(self.about_weights)
        if self.loops_dropped:
            loops = counted(self.loops_dropped, "self-loop was", "self-loops were")
            lines.append(f"{loops} not used.")
        if self.saturated_weights:
            weights = counted(
                self.saturated_weights, "heavy edge weight was", "heavy edge weights were"
            )
            lines.append(f"{weights} saturated.")
        if self.ordering == "input order":
            lines.append(
                "The node names cannot be sorted: another order of the nodes may give other "
                "communities."
            )
        if self.dispersion != 1.0:
            lines.append(
                "Edges are correlated: they count as if there were "
                f"{self.dispersion:.3g} times fewer."
            )
        lines += [f"Warning: {warning}" for warning in self.warnings]
        if self.refinement.components:
            lines.append(self.refinement.sentence())
        if self.k_hat is not None:
            counting = ", ".join(f"{count} {name}" for name, count in self.counting.items())
            lines.append(f"Components whose eigenvalues were counted: {counting or 'none'}.")
        if self.r is not None:
            lines.append(f"Parameter of the Bethe Hessian: r = {self.r:.4g} ({self.r_choice}).")
        return lines

    def about_k(self) -> str:
        """Return a sentence on the number of communities and the evidence for it."""
        parts = f" in {self.n_components} components" if self.n_components > 1 else ""
        found = f"{counted_communities(self.k_found, self.n_single)}{parts}"
        if self.labels_given:
            return f"{found}, as many as in the labels given."
        if self.k_given is not None:
            total = f", {self.k_found} in all" if 0 < self.n_single < self.k_found else ""
            return f"{found}{total}, as requested."
        if self.n_components == 1 and self.components:
            return f"{found}: {self.components[0].reason()}."
        return f"{found}."

    def about_components(self) -> list[str]:
        """Return a sentence on each component of several nodes, unless about_k has said it."""
        if self.n_components > 1 or self.k_given is not None:
            return [each.sentence() for each in self.components if each.n > 1]
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values that JSON can hold."""
        record = asdict(self)
        record["components"] = list(record["components"])
        record["warnings"] = [
            {"kind": type(warning).__name__, "message": str(warning)} for warning in self.warnings
        ]
        return record


def continuum_warning(patches: int, k: int) -> ContinuumWarning:
    """Return the warning that communities look like patches of a continuum."""
    which = f"the {k} communities look" if patches == k else f"{patches} of {k} communities look"
    msg = (
        f"{which} like patches of a continuum, such as a grid or the neighbors of points in space: "
        "their borders could as well lie elsewhere.\n"
        "  See which nodes stay together with partition.stability()."
    )
    return ContinuumWarning(msg)
