"""The HTML document: text, tables, the data for the script, and the script itself.

Names of nodes are text from elsewhere. They enter the document only as JSON without ``<``, ``>``
and ``&``, from which the script makes text nodes, and as escaped text. A content security policy
lets the browser run the one script of the file, by its hash, and load nothing.
"""

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._output import check_writable
from kgroups._progress import StageProgress, stage_progress
from kgroups._types import Floats
from kgroups._wording import counted
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.page.figures import PageLimits, graph_figures
from kgroups.report import spectrum_shows

if TYPE_CHECKING:
    from kgroups.partition import Partition
    from kgroups.scoring import Scores
    from kgroups.spectrum import Spectrum
    from kgroups.uncertainty.stability import Stability

_SUFFIXES = (".html", ".htm")
_SURE = 0.9
# Components whose sentence is shown.
_MOST_SENTENCES = 8
_RULES = {
    "mean-degree": "square root of the mean degree",
    "second-moment": "second moment of the degrees",
    "nonbacktracking": "non-backtracking radius",
}
_ABOUT_SCORES = {
    "modularity": "edges inside communities beyond what the degrees alone would give; at most 1",
    "coverage": "share of the edges that lie inside communities",
    "performance": "share of the pairs of nodes that are linked inside a community, or not linked "
    "between two",
    "mean_conductance": "mean over the communities of the share of their edge ends that leave; "
    "low is well separated",
}


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise if no page can be written there: another suffix, or no folder."""
    if Path(path).suffix.lower() not in _SUFFIXES:
        msg = f"the name of a report must end in {' or '.join(_SUFFIXES)}; got {str(path)!r}."
        raise InputError(msg)
    check_writable(path)


def page_content(
    partition: "Partition",
    graph: Graph,
    *,
    title: str | None = None,
    spectrum: bool | None = None,
    confidence: bool | None = None,
    levels: bool | None = None,
    uncertainty: bool | None = None,
    progress: StageProgress = False,
    limits: PageLimits = PageLimits(),  # noqa: B008  (frozen)
) -> bytes:
    """Return the file that :meth:`kgroups.Partition.to_html` writes."""
    with stage_progress(progress=progress) as begin:
        shown = partition.known_spectrum
        if spectrum is False:
            shown = None
        elif shown is None and (spectrum or graph.n <= limits.computed):
            begin("computing the spectrum")
            shown = partition.spectrum
        sure = None
        known = partition.known_confidence is not None
        if confidence or (confidence is None and (known or graph.n <= limits.computed)):
            if not known:
                begin("computing confidence")
            sure = partition.confidence()
        scales = partition.known_levels
        if levels is False:
            scales = None
        elif scales is None and (levels or graph.n <= limits.levels):
            begin("finding levels")
            scales = partition.levels()
        if uncertainty or (uncertainty is None and graph.n <= limits.computed):
            partition.k_distribution(progress=begin)
            begin("computing stability")
            if partition.known_stability is None:
                partition.stability(
                    progress=lambda done, most: begin(f"computing stability: {done} of {most}")
                )
        stability = None if uncertainty is False else partition.known_stability
        begin("laying out the graph")
        data = graph_figures(
            partition, graph, sure, limits, scales, stability=uncertainty is not False
        )
        begin("writing the page")
        if shown is not None:
            data["spectrum"] = {
                "eigenvalues": [round(value, 6) for value in shown.eigenvalues],
                "above": shown.shown_above,
                "k": shown.k,
            }
        scores = partition.scores()
        script = files("kgroups.page").joinpath("page.js").read_text("utf-8")
        parts = {
            "policy": html.escape(_policy(script)),
            "title": html.escape(title or graph.name or _untitled(graph)),
            "verdict": _verdict(
                graph,
                partition._overview(
                    levels=scales is not None,
                    spectrum=shown is not None,
                    uncertainty=uncertainty is not False,
                ),
            ),
            "facts": _facts(partition, graph, scores, sure, stability),
            "warnings": _warnings(partition, shown, stability),
            "why": _why(partition, shown) + _stability(stability),
            "scores": _scores(scores, weighted=graph.is_weighted),
            "version": html.escape(version("kgroups")),
            "data": _json(data),
            "script": script,
        }
        template = files("kgroups.page").joinpath("template.html").read_text("utf-8")
        text = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
        return text.encode("utf-8", "replace")


def _policy(script: str) -> str:
    """Return a content security policy under which nothing is loaded and only this script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _json(data: Any) -> str:
    """Return JSON that cannot end or comment out the element that it is in."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _verdict(graph: Graph, sentences: Sequence[str]) -> str:
    """Return how many communities, of what, at which scales, and how sure and stable they are."""
    size = f"{graph.n:,} {'node' if graph.n == 1 else 'nodes'}"
    links = f"{graph.m:,} {'edge' if graph.m == 1 else 'edges'}"
    first, *others = map(html.escape, sentences)
    return " ".join([f"A graph of {size} and {links}. <strong>{first}</strong>", *others])


def _untitled(graph: Graph) -> str:
    return f"Communities of {graph.n:,} {'node' if graph.n == 1 else 'nodes'}"


def _facts(
    partition: "Partition",
    graph: Graph,
    scores: "Scores",
    confidence: Floats | None,
    stability: "Stability | None",
) -> str:
    """Return a few numbers with their names."""
    several = int(np.count_nonzero(partition.sizes > 1))
    singles = partition.k - several
    facts = [
        ("nodes", f"{graph.n:,}"),
        ("edges", f"{graph.m:,}" + (" weighted" if graph.is_weighted else "")),
        ("communities", f"{several:,}"),
        *([("single nodes" if singles > 1 else "single node", f"{singles:,}")] if singles else []),
        ("largest community", f"{int(partition.sizes.max(initial=0)):,}"),
        ("modularity", f"{scores.modularity:.3f}"),
    ]
    if confidence is not None and confidence.size:
        sure = np.count_nonzero(confidence >= _SURE) / confidence.size
        # Rounded down, so that not all nodes seem sure when some are not.
        facts.append(("nodes placed with a probability of 0.9 or more", f"{int(100 * sure)} %"))
    if stability is not None:
        known = max(int(np.count_nonzero(~np.isnan(stability.nodes))), 1)
        stay = np.count_nonzero(stability.nodes >= _SURE) / known
        facts.append(("nodes that stay in 0.9 of the resamples or more", f"{int(100 * stay)} %"))
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)


def _warnings(
    partition: "Partition", spectrum: "Spectrum | None", stability: "Stability | None"
) -> str:
    known = partition._known_warnings(spectrum=spectrum is not None)
    messages = [*map(str, known), *map(str, partition._instability() if stability else ())]
    if partition.uninformed:
        nodes = counted(len(partition.uninformed), "node lies", "nodes lie")
        messages.append(f"{nodes} in components without signal, assigned to the largest community.")
    parts = len(partition.disconnected)
    if parts:
        are = counted(parts, "community is", "communities are")
        messages.append(f"{are} not connected.")
    if not messages:
        return ""
    items = "".join(f"<li>{html.escape(each)}</li>" for each in dict.fromkeys(messages))
    return (
        '<section class="warnings" aria-labelledby="warnings-title">'
        f'<h2 id="warnings-title">Warnings</h2><ul>{items}</ul></section>'
    )


def _why(partition: "Partition", spectrum: "Spectrum | None") -> str:
    """Return paragraphs on the number of communities, and a table of the eigenvalue counts."""
    report = partition.report
    if report is None:
        sentences = ["The communities were given as labels, not found by a detection."]
    else:
        sentences = [report.about_k(), *report.about_components()[:_MOST_SENTENCES]]
    parts = [f"<p>{html.escape(sentences[0])}</p>"]
    if sentences[1:]:
        parts.append(_list(sentences[1:]))
    if spectrum is None:
        parts.append(
            '<p class="note">The spectrum is not part of this report. It is with '
            "<code>partition.to_html(path, spectrum=True)</code>, or on the command line with "
            "<code>--html-details all</code>.</p>"
        )
        return "".join(parts)
    exact, single = spectrum.is_exact, partition._single
    shown = html.escape(spectrum_shows(partition.k, spectrum.k, single=single, exact=exact))
    about = "" if exact else "about "
    lie = counted(spectrum.k, "eigenvalue of N_r lies", "eigenvalues of N_r lie")
    count = html.escape(f"{about}{lie}").replace("N_r", "<i>N</i><sub>r</sub>")
    at = "" if spectrum.r is None else f" at <i>r</i> = {spectrum.r:.4g}"
    parts.append(
        f"<p>T{shown[1:]}: {count} above the threshold 1{at}. The count of the Bethe Hessian "
        "depends on <i>r</i>; three rules for <i>r</i> show how certain it is:</p>"
    )
    rows = [
        (_RULES.get(rule, rule), f"{spectrum.r_at[rule]:.4g}", count)
        for rule, count in spectrum.shown_k_at.items()
    ]
    parts.append(_table(("r by", "r", "eigenvalues above 1"), rows))
    if not exact:
        between = f"between {spectrum.k_low:,} and {spectrum.k_high:,}"
        parts.append(
            f'<p class="note">The count is an estimate {between}; the eigenvalues themselves are '
            "not known.</p>"
        )
    return "".join(parts)


def _stability(stability: "Stability | None") -> str:
    """Return a paragraph on what is found again without some edges, if that is to be shown."""
    if stability is None:
        return ""
    head, *lines = str(stability).split("\n  ")
    return f"<p>{html.escape(head)}:</p>{_list(lines)}"


def _scores(scores: "Scores", *, weighted: bool) -> str:
    values = scores.to_dict()
    by_weight = ("modularity", "mean_conductance") if weighted else ()
    rows = [
        (
            name.replace("_", " "),
            f"{values[name]:.3f}",
            f"{about}; edges count by their weights" if name in by_weight else about,
        )
        for name, about in _ABOUT_SCORES.items()
    ]
    return _table(("score", "value", "meaning"), rows)


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(item)}</li>' for item in items)}</ul>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column names the rows and whose second is numbers."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        f"{''.join(f'<td>{html.escape(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
