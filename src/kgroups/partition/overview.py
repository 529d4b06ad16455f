"""What is known of a partition in plain sentences: how many, at which scales, how sure and stable.

Nothing is computed here: what was not asked for is named with the call that computes it.
"""

from typing import TYPE_CHECKING, Any

from kgroups._output import html_lines, html_table
from kgroups._wording import counted, counted_communities, text_of
from kgroups.partition.tables import community_rows
from kgroups.report import spectrum_shows

if TYPE_CHECKING:
    from kgroups.partition.partition import Partition

# Rows that a printed summary shows.
_MOST_ROWS = 20


class Summary(list[dict[str, Any]]):
    """A row per community as a dict, and what is known of all of them in sentences.

    It is a list, which ``pandas.DataFrame`` takes as it is; ``print(summary)`` shows the sentences
    and a table.

    Attributes
    ----------
    sentences : list of str
        How many communities there are, at which scales, how sure their number is, how stable they
        are, and what speaks against them.
    """

    def __init__(self, rows: list[dict[str, Any]], sentences: list[str]) -> None:
        super().__init__(rows)
        self.sentences = sentences

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary, (list(self), self.sentences)

    def __str__(self) -> str:
        if not self:
            return "\n".join(self.sentences)
        cells = [
            list(self[0]),
            *([_shown(value) for value in row.values()] for row in self[:_MOST_ROWS]),
        ]
        wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(f"{c:>{w}}" for c, w in zip(row, wide, strict=True)) for row in cells]
        more = [f"... and {len(self) - _MOST_ROWS:,} more"] if len(self) > _MOST_ROWS else []
        return "\n".join([*self.sentences, "", *lines, *more])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sentences, and the table."""
        rows = [list(row.values()) for row in self[:_MOST_ROWS]]
        table = html_table(list(self[0]), rows) if self else ""
        more = (
            html_lines([f"and {len(self) - _MOST_ROWS:,} more"]) if len(self) > _MOST_ROWS else ""
        )
        return html_lines(self.sentences) + table + more


def summary_of(partition: "Partition") -> Summary:
    """Return the rows and the sentences of :meth:`Partition.summary`."""
    sentences = [*overview(partition), *(f"Warning: {each}" for each in _warnings(partition))]
    missing = not_computed(partition, ("levels()", "k_distribution()", "stability()"))
    if missing:
        sentences.append(f"Not computed: {', '.join(missing)}; summary(full=True) computes all.")
    return Summary(community_rows(partition), sentences)


def overview(
    partition: "Partition", *, levels: bool = True, spectrum: bool = True, uncertainty: bool = True
) -> list[str]:
    """Return sentences on a partition, but for warnings, with or without some of what is known."""
    if not partition.k:
        return ["There are no nodes."]
    return [
        _how_many(partition, surely=uncertainty),
        *(_at_which_scales(partition) if levels else ()),
        *(_how_sure(partition) if uncertainty else ()),
        *(_what_the_spectrum_shows(partition) if spectrum else ()),
        *(_how_stable(partition) if uncertainty else ()),
        *_undecided(partition),
    ]


def not_computed(partition: "Partition", names: tuple[str, str, str]) -> list[str]:
    """Return the names of what is not known: levels, P(k) and stability."""
    if partition.graph is None or partition.graph.m == 0:
        return []
    known = (partition.known_levels, partition.known_k_distribution, partition.known_stability)
    return [name for name, one in zip(names, known, strict=True) if one is None]


def _how_many(partition: "Partition", *, surely: bool) -> str:
    sizes, report = partition.sizes, partition.report
    several = sizes[sizes > 1]
    if report is None:
        origin = ", by the labels given"
    elif report.method == "None":
        origin = ", as many as in the labels given"
    elif report.k_given is not None:
        origin = ", as many as were asked for"
    else:
        origin = ""
    if sizes.size == 1:
        numbers = partition.known_k_distribution if surely else None
        doubtful = origin or sizes[0] == 1 or (numbers is not None and numbers.k > 1)
        found = "" if doubtful else ": nothing was found that divides them"
        who = "The only node is" if sizes[0] == 1 else f"All {sizes[0]} nodes are"
        return f"{who} one community{origin}{found}."
    low, high = int(several.min(initial=sizes[0])), int(several.max(initial=1))
    of = f" of {low} to {high} nodes" if low < high else f" of {counted(low, 'node')}"
    total = f", {sizes.size} in all" if 0 < several.size < sizes.size else ""
    return f"{counted_communities(sizes.size, partition._single, of)}{total}{origin}."


def _at_which_scales(partition: "Partition") -> list[str]:
    levels = partition.known_levels
    if levels is None:
        return []
    others = [
        level.k - level._single or level.k
        for place, level in enumerate(levels)
        if place != levels.returned
    ]
    if not others:
        return ["No other scale stands out."]
    *most, last = map(str, others)
    shown = f"{', '.join(most)} and {last}" if most else last
    scales = "Other scales have" if most else "Another scale has"
    return [f"{scales} {shown} {'community' if others == [1] else 'communities'}."]


def _how_sure(partition: "Partition") -> list[str]:
    numbers = partition.known_k_distribution
    return [] if numbers is None else [numbers.about(partition.k)]


def _what_the_spectrum_shows(partition: "Partition") -> list[str]:
    spectrum = partition.known_spectrum
    if spectrum is None:
        return []
    single, exact = partition._single, spectrum.is_exact
    shown = spectrum_shows(partition.k, spectrum.k, single=single, exact=exact)
    return [f"T{shown[1:]}."]


def _how_stable(partition: "Partition") -> list[str]:
    stability = partition.known_stability
    return [] if stability is None else [stability.sentence]


def _undecided(partition: "Partition") -> list[str]:
    report, sentences = partition.report, []
    if report is not None:
        nodes = sum(each.n for each in report.components)
        unsure = sum(each.n * (each.undecided or 0.0) for each in report.components)
        if round(unsure):
            where = "" if nodes == report.n else " in the largest components"
            share = f"{100.0 * unsure / nodes:.1f} %"
            sentences.append(
                f"For {share} of the nodes{where}, another community is nearly as good."
            )
    if partition.uninformed:
        lie = counted(len(partition.uninformed), "node lies", "nodes lie")
        sentences.append(f"{lie} in components without signal, assigned to the largest community.")
    return sentences


def _warnings(partition: "Partition") -> list[Warning]:
    """Return the warnings of detection, of the spectrum, and of stability."""
    return [*partition._known_warnings(), *partition._instability()]


def _shown(value: object) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else text_of(value)
