"""Draw agreement with labels and time side by side: a row per network, a mark per method."""

import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.measure import Outcome
from benchmarks.peers import PEERS
from kgroups.plotting import community_colors
from kgroups.plotting.style import FAINT, INK

# Shapes tell the methods apart where colors do not; the first stands for kgroups.
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p")
# How much of a row the marks are spread over, so that equal values do not hide one another.
SPREAD = 0.56


def side_by_side(measured: Sequence[tuple[str, Sequence[Outcome]]], methods: Sequence[str]) -> Any:
    """Return a matplotlib figure of the networks that have labels, in the order given."""
    from matplotlib.figure import Figure

    rows = [row for row in measured if any(outcome.values("ami") for outcome in row[1])]
    if not rows:
        msg = "no network with labels was measured: there is nothing to draw"
        raise SystemExit(msg)
    picture = Figure(figsize=(10.0, 1.9 + 0.62 * len(rows)), layout="constrained")
    agreement, time = picture.subplots(1, 2, sharey=True)
    for place, method in enumerate(methods):
        step = SPREAD * (place / max(len(methods) - 1, 1) - 0.5)
        outcomes = [next(one for one in row[1] if one.peer == method) for row in rows]
        style = mark(place)
        scores = [(one.values("ami"), y + step) for y, one in enumerate(outcomes)]
        agreement.scatter(
            [statistics.fmean(values) for values, _ in scores if values],
            [y for values, y in scores if values],
            label=PEERS[method].settings,
            **style,
        )
        times = [(one.median_seconds, y + step) for y, one in enumerate(outcomes)]
        time.scatter(
            [1e3 * seconds for seconds, _ in times if seconds is not None],
            [y for seconds, y in times if seconds is not None],
            **style,
        )
    for axes in (agreement, time):
        _dress(axes, len(rows))
    agreement.set_yticks(range(len(rows)), [_name(*row) for row in rows])
    agreement.set_ylim(len(rows) - 0.5, -0.5)
    lowest = min(score for row in rows for one in row[1] for score in one.values("ami"))
    agreement.set_xlim(min(lowest, 0.0) - 0.03, 1.03)
    agreement.set_title("AMI with the labels", color=INK, fontsize=12, loc="left")
    time.set_xscale("log")
    time.xaxis.set_major_formatter("{x:g}")
    time.set_title("median time in ms", color=INK, fontsize=12, loc="left")
    legend = picture.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    for text in legend.get_texts():
        text.set_color(INK)
    return picture


def mark(place: int) -> dict[str, Any]:
    """Return the color and shape of the marks of one method."""
    return {
        "color": [community_colors(place + 1)[place]],
        "marker": _MARKERS[place % len(_MARKERS)],
        "s": 66 if place == 0 else 50,
        "edgecolors": "white",
        "linewidths": 0.7,
        "zorder": 4 if place == 0 else 3,
    }


def _dress(axes: Any, rows: int) -> None:
    for y in range(0, rows, 2):
        axes.axhspan(y - 0.5, y + 0.5, color=FAINT, alpha=0.13, lw=0)
    axes.grid(axis="x", color=FAINT, alpha=0.4, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.tick_params(axis="y", length=0)


def _name(name: str, outcomes: Sequence[Outcome]) -> str:
    run = next(run for outcome in outcomes for run in outcome.runs)
    return f"{name}\n{run.n:,} nodes, true k = {run.true_k}"
