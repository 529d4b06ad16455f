"""The directive ``drawn``: pictures as SVG inside of a page, in the colors of its theme."""

import io
import re
from html import escape
from pathlib import Path

import matplotlib as mpl
import networkx as nx
import numpy as np
from docutils import nodes
from matplotlib.figure import Figure
from sphinx.util.docutils import SphinxDirective

import kgroups as kg
from kgroups import plotting
from kgroups.plotting.style import FAINT, INK, PALETTE

README = Path(__file__).parents[1] / "README.md"
# The colors of a theme in the place of those that a picture on white paper has.
THEMED = {
    INK: "var(--color-foreground-primary)",
    FAINT: "var(--color-foreground-muted)",
    "#ffffff": "var(--color-background-primary)",
    f"#{PALETTE[0]}": "var(--color-brand-primary)",
    f"#{PALETTE[3]}": "var(--drawn-plum)",
}
# Of the columns of the table: the color and the marker of `docs/images/real.png`.
METHODS = {
    "kgroups": (PALETTE[0], "o"),
    "Leiden, converged": (PALETTE[2], "D"),
    "Infomap": (PALETTE[3], "^"),
}


def karate():
    """Draw the communities of the five lines."""
    figure = Figure(figsize=(5.2, 3.2), layout="none")
    G = nx.karate_club_graph()
    kg.detect_communities(G).plot(figure.add_axes((0, 0, 1, 1)), names=[])
    return figure


def agreement():
    """Draw the agreement with the labels, from the table of the README."""
    families = agreements(README.read_text(encoding="utf-8"))
    with plotting.style():
        figure = Figure(figsize=(4.4, 4.4), layout="constrained")
        axes = figure.subplots()
        rows = np.arange(len(families))
        for place, (method, (color, marker)) in enumerate(METHODS.items()):
            values = [found[method] for found in families.values()]
            axes.plot(values, rows + 0.24 * (place - 1), marker, color=f"#{color}", label=method)
        for row in rows[::2]:
            axes.axhspan(row - 0.5, row + 0.5, color=FAINT, alpha=0.08, linewidth=0)
        axes.grid(axis="x", alpha=0.4)
        axes.set(yticks=rows, yticklabels=families, xlim=(-0.02, 1), ylim=(rows[-1] + 0.5, -0.5))
        axes.set_xlabel("AMI with the labels")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(
            loc="outside upper center", ncols=3, fontsize=10, handletextpad=0.1, columnspacing=1.2
        )
    return figure


def agreements(readme):
    """Return the mean AMI of each method on each family of labeled networks."""
    table = readme[readme.index("| family |") :].split("\n\n", 1)[0]
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
    )
    lines = [dict(zip(header, cells, strict=True)) for cells in rows]
    # The last rows have the means.
    return {
        line["family"]: {name: float(line[name]) for name in METHODS}
        for line in lines
        if not line["family"].startswith("mean")
    }


def as_svg(figure, description):
    """Return a figure as an SVG element that takes its fonts and colors from the page."""
    content = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": description}):
        figure.savefig(content, format="svg", transparent=True)
    svg = content.getvalue()
    svg = svg[svg.index("<svg") :]
    # The page gives the size. Its rules and names are not those of a file that stands alone.
    svg = re.sub(r' (width|height)="[^"]*pt"', "", svg)
    svg = re.sub(r"<(metadata|style).*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;]*; ", "", svg)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    for color, themed in THEMED.items():
        svg = svg.replace(color, themed)
    attributes = f'class="drawn" role="img" aria-label="{escape(description)}"'
    return svg.replace("<svg", f"<svg {attributes}", 1)


class Drawn(SphinxDirective):
    """Draws what the argument names; the content describes it to those who cannot see it."""

    required_arguments = 1
    has_content = True

    def run(self):
        self.env.note_dependency(str(README))
        figure = {"karate": karate, "agreement": agreement}[self.arguments[0]]()
        return [nodes.raw("", as_svg(figure, " ".join(self.content)), format="html")]


def setup(app):
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True}
