"""The paper's figures of tables: violins of NMI, and the classes in the groups of dermatology."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kgroups import metrics
from kgroups._types import Ints
from kgroups.plotting.axes import INK, community_colors
from kgroups.reproduce.table_paper import UciLine
from kgroups.studies import Study

__all__ = ["draw_membership", "draw_violins"]

_METHODS = ("k-groups", "kernel k-means, printed", "kernel k-means", "spectral")
_SHORT = ("groups", "means,\nprinted", "means", "spectral")
_ACROSS = 6
_PANEL = (2.3, 2.2)


def draw_violins(study: Study, paper: Mapping[str, UciLine]) -> Any:
    """Draw the NMI of all starts on each table, and the paper's means as crosses."""
    from matplotlib.figure import Figure

    tables = list(dict.fromkeys(row["table"] for row in study.rows))
    across, down = min(len(tables), _ACROSS), math.ceil(len(tables) / _ACROSS)
    figure = Figure(figsize=(_PANEL[0] * across, _PANEL[1] * down + 0.3), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    colors = community_colors(len(_METHODS))
    places = np.arange(len(_METHODS))
    for panel, table in zip(panels, tables, strict=False):
        # Equal partitions differ by rounding errors, which are no distribution to draw.
        values = [np.round(study.values("nmi", method=m, table=table), 9) for m in _METHODS]
        parts = panel.violinplot(values, places, widths=0.8, showmeans=True, showextrema=False)
        for body, color in zip(parts["bodies"], colors, strict=True):
            body.set(facecolor=color, alpha=0.6)
        parts["cmeans"].set(color=INK, lw=1.2)
        printed = paper[table].paper
        of_paper = [printed.groups, printed.printed, math.nan, printed.spectral]
        panel.plot(places, of_paper, "x", color=INK, ms=4, label="paper")
        panel.set_title(table, color=INK, fontsize=9, loc="left")
        panel.set_xticks(places, _SHORT, fontsize=6)
        panel.tick_params(axis="y", labelsize=7, colors=INK)
        panel.spines[["top", "right"]].set_visible(False)
    for unused in panels[len(tables) :]:
        unused.remove()
    figure.supylabel("NMI", color=INK, fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=8,
                  loc="outside lower right")  # fmt: skip
    return figure


def draw_membership(truth: Ints, z: Ints, *, title: str) -> Any:
    """Draw how many rows of each class are in each group, as a heat map."""
    from matplotlib.figure import Figure
    from scipy.optimize import linear_sum_assignment

    counts = metrics.confusion(truth, z).counts
    # Each class faces the group that it is matched with, so that the diagonal is what agrees.
    counts = counts[:, linear_sum_assignment(-counts)[1]]
    figure = Figure(figsize=(4.6, 4.0), layout="constrained")
    panel = figure.subplots()
    image = panel.imshow(counts, cmap="Blues")
    for (a, b), count in np.ndenumerate(counts):
        dark = count > counts.max() / 2
        panel.text(b, a, str(count), ha="center", va="center", fontsize=8,
                   color="white" if dark else INK)  # fmt: skip
    for axis, what in ((panel.xaxis, "group"), (panel.yaxis, "class")):
        axis.set_ticks(range(len(counts)), [str(a + 1) for a in range(len(counts))])
        axis.set_label_text(what, color=INK)
    panel.set_title(title, color=INK, fontsize=10, loc="left")
    figure.colorbar(image, ax=panel, label="rows")
    return figure
