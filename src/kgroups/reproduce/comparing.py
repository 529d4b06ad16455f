"""Accuracies of a study beside those that are known: columns, verdicts, claims, curves."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups.plotting.axes import INK, community_colors
from kgroups.reproduce.findings import Claim, measured
from kgroups.reproduce.vector_paper import Known, Values
from kgroups.studies import Study
from kgroups.studies.figure import study_figure

__all__ = ["Comparison", "curves", "verdict"]

_AGREES = "reproduced"
# The method whose verdict comes first, without its name.
_MAIN = "k-groups"
_UNKNOWN = "no value to compare with"
# Of comparisons that lie within two standard errors 19 times in 20, how often by chance alone.
_BEYOND = 0.0455
_UNLIKELY = 0.01


def verdict(found: Floats, known: Known) -> str:
    """Compare accuracies with a known mean.

    They agree if their mean differs by at most two standard errors from the printed value or from
    that of the check. The standard error is that of the difference; where nothing else is known,
    single runs spread there as they do here.
    """
    if found.size < 2:
        return "one run has no standard error"
    sd = float(found.std(ddof=1))
    apart = []
    for value, runs in (
        (known.printed, known.printed_runs or known.runs),
        (known.checked, known.runs),
    ):
        if value is not None:
            difference = float(found.mean()) - value
            theirs = sd if known.sd is None else known.sd
            allowed = 2.0 * math.hypot(sd / math.sqrt(found.size), theirs / math.sqrt(runs))
            # Known values have three digits.
            if abs(difference) <= allowed + 0.0005:
                return _AGREES
            apart.append(difference)
    return "above" if min(apart, key=abs) > 0.0 else "below"


@dataclass(frozen=True)
class Comparison:
    """A study beside what is known.

    Attributes
    ----------
    study : Study
        With the metric ``accuracy``.
    values : mapping
        What is known, by the values of a cell and the name of a method.
    """

    study: Study
    values: Values

    @property
    def cells(self) -> list[tuple[Any, ...]]:
        """The values of each cell."""
        parameters = self.study.parameters
        return list(dict.fromkeys(tuple(row[p] for p in parameters) for row in self.study.rows))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names: the parameters, each method after the paper's values in brackets, the verdict."""
        names = list(self.study.parameters)
        for method in self.study.methods:
            names += [f"[{method}]", method] if self._is_printed(method) else [method]
        return (*names, "verdict")

    def lines(self) -> tuple[tuple[Any, ...], ...]:
        """Return a line per cell."""
        lines = []
        for cell in self.cells:
            known = self.values.get(cell, {})
            entries: list[Any] = []
            for method in self.study.methods:
                mean = measured(self._found(cell, method))
                if self._is_printed(method):
                    entries.append(known[method].printed if method in known else None)
                entries.append(None if math.isnan(mean.mean) else mean)
            lines.append((*cell, *entries, self._line_verdict(cell)))
        return tuple(lines)

    def claim(self, sentence: str, *, methods: Callable[[str], bool]) -> Claim:
        """Claim that means of some methods agree with known ones as often as chance lets them."""
        judged = {
            (cell, method): word
            for cell in self.cells
            for method, word in self._words(cell).items()
            if methods(method)
        }
        beyond = [key for key, word in judged.items() if word != _AGREES]
        names = "; ".join(
            f"{method} {judged[cell, method]} at {', '.join(map(str, cell))}"
            for cell, method in beyond
        )
        seen = f"{len(judged) - len(beyond)} of {len(judged)}" + (f"; {names}" if names else "")
        return Claim(sentence, _by_chance(len(beyond), len(judged)) > _UNLIKELY, seen)

    def _is_printed(self, method: str) -> bool:
        return any(
            method in known and known[method].printed is not None for known in self.values.values()
        )

    def _found(self, cell: tuple[Any, ...], method: str) -> Floats:
        where = dict(zip(self.study.parameters, cell, strict=True))
        return self.study.values("accuracy", method=method, **where)

    def _words(self, cell: tuple[Any, ...]) -> dict[str, str]:
        return {
            method: verdict(self._found(cell, method), known)
            for method, known in self.values.get(cell, {}).items()
        }

    def _line_verdict(self, cell: tuple[Any, ...]) -> str:
        words = self._words(cell)
        if not words:
            return _UNKNOWN
        others = [
            f"{method} {word}"
            for method, word in words.items()
            if method != _MAIN and word != _AGREES
        ]
        first = [words[_MAIN]] if _MAIN in words else []
        return "; ".join([*first, *others] or [_AGREES])


def _by_chance(beyond: int, total: int) -> float:
    """Return how likely at least so many comparisons lie beyond two standard errors."""
    from scipy.special import bdtrc

    return 1.0 if beyond == 0 else float(bdtrc(beyond - 1, total, _BEYOND))


def curves(
    comparison: Comparison,
    methods: Sequence[str],
    *,
    x: str,
    bayes: Mapping[tuple[Any, ...], float] | None = None,
) -> Any:
    """Return a figure of mean accuracies with crosses for the paper's.

    Parameters
    ----------
    comparison : Comparison
        The study and the paper's values.
    methods : sequence of str
        What is drawn.
    x : str
        Parameter of the horizontal axis; the other one, if any, tells panels apart.
    bayes : mapping, optional
        From what tells a panel apart to the accuracy that no method can surpass.
    """
    study, values = comparison.study, comparison.values
    rows = tuple(row for row in study.rows if row["method"] in methods)
    at = study.parameters.index(x)
    panels = list(dict.fromkeys((*cell[:at], *cell[at + 1 :]) for cell in comparison.cells))
    drawn = Study(study.parameters, study.metrics, rows)
    figure = study_figure(drawn, metric="accuracy", x=x, panel=(5.2, 4.2))
    colors = community_colors(len(drawn.methods))
    for axes, panel in zip(figure.axes, panels, strict=True):
        for color, method in zip(colors, drawn.methods, strict=True):
            marks: list[Any] = [
                (cell[at], known[method].printed)
                for cell, known in values.items()
                if (*cell[:at], *cell[at + 1 :]) == panel and method in known
                if known[method].printed is not None
            ]
            if marks:
                axes.plot(*np.transpose(marks), "x", color=color, ms=8, mew=1.8)
        if bayes:
            axes.axhline(bayes[panel], color=INK, lw=1.0, ls="--")
    figure.axes[0].plot([], [], "x", color=INK, label="paper")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure
