"""The HTML document: text, tables, the script, and the nodes, edges and communities it draws.

Names of nodes are text from elsewhere. They enter the document only as JSON without ``<``, ``>``
and ``&``, from which the script makes text nodes, and as escaped text. A content security policy
lets the browser run the one script of the file, by its hash, and load nothing.

Arrays are stored as base64 of little-endian integers, which a browser decodes without parsing;
coordinates and probabilities are rounded to steps of the integers.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._progress import StageProgress, stage_progress
from kgroups._types import Floats, Ints
from kgroups._validation import changed_options, name_text
from kgroups._wording import counted
from kgroups.graph import Graph
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.layout import positions
from kgroups.report import about_uninformed, spectrum_shows
from kgroups.scoring import CommunityLinks, Scores, community_links, conductance

if TYPE_CHECKING:
    from kgroups.partition import Levels, Partition
    from kgroups.spectrum import Spectrum
    from kgroups.uncertainty.stability import Stability

# Steps of coordinates from 0 to 1 along the longer side, and of probabilities.
_COORDINATE_STEPS = 65_535
_PROBABILITY_STEPS = 10_000
# For a share that is not known.
_UNKNOWN = 65_535
_MEMBERS_NAMED = 6
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


@dataclass(frozen=True)
class PageLimits:
    """Sizes up to which a page holds or computes something.

    Attributes
    ----------
    computed : int
        Nodes up to which spectrum, confidence, P(k) and stability are computed unless the caller
        decides. On larger graphs each of them can take longer than the detection.
    levels : int
        Nodes up to which levels are computed unless the caller decides; they take about as long as
        the detection.
    nodes : int
        Nodes that the file holds one by one; beyond, only their communities.
    edges : int
        Edges that the file holds; of more, a random part.
    links : int
        Pairs of communities whose link is drawn, those with the most edges.
    """

    computed: int = 1_000
    levels: int = 50_000
    nodes: int = 100_000
    edges: int = 500_000
    links: int = 2_000

    __repr__ = changed_options


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
    limits: PageLimits = PageLimits(),
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
            if partition.known_stability is None:
                partition._stability_in_stages(begin)
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
    scores: Scores,
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
    messages += about_uninformed(len(partition.uninformed))
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


def _scores(scores: Scores, *, weighted: bool) -> str:
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


def graph_figures(
    partition: "Partition",
    graph: Graph,
    confidence: Floats | None,
    limits: PageLimits,
    levels: "Levels | None" = None,
    *,
    stability: bool = True,
) -> dict[str, Any]:
    """Return what the script of the page draws and lists, as values that JSON can hold."""
    rows, cols, _ = graph.edges()
    apart = rows != cols
    ends = np.column_stack([rows, cols])[apart].astype(np.int64)
    degree = np.bincount(ends.ravel(), minlength=graph.n)
    # Nodes stay where they are while the reader looks at other levels.
    drawn = _Drawn(graph, ends, degree, _unit_square(positions(graph, partition.labels, None)))
    holds_nodes = graph.n <= limits.nodes
    names = _texts(partition.nodes) if holds_nodes else []
    shown = [partition] if levels is None else list(levels)
    return {
        "n": graph.n,
        "weighted": graph.is_weighted,
        "nodes": _nodes(partition, drawn, names) if holds_nodes else None,
        "edges": _edges(ends, limits.edges) if holds_nodes else None,
        "returned": 0 if levels is None else levels.returned,
        "levels": [
            _level(
                level,
                drawn,
                names,
                confidence if level is partition else None,
                level.known_stability if stability else None,
                limits,
                is_laid_out=level is partition,
            )
            for level in shown
        ],
    }


class _Drawn(NamedTuple):
    """A graph as it is drawn: edges without self-loops, degrees and positions."""

    graph: Graph
    ends: Ints
    degree: Ints
    xy: Floats


def _level(
    partition: "Partition",
    drawn: _Drawn,
    names: list[str],
    confidence: Floats | None,
    stability: "Stability | None",
    limits: PageLimits,
    *,
    is_laid_out: bool,
) -> dict[str, Any]:
    """Return the communities of a level, their colors and links, and the labels of all nodes.

    Communities of one node, which have the highest numbers, are one group after all others.
    """
    z, k = partition.labels, partition.k
    several = int(np.count_nonzero(partition.sizes > 1))
    group, groups = np.minimum(z, several), min(k, several + 1)
    links = community_links(drawn.graph, z)
    communities = _communities(partition, drawn, several, links)
    holds_nodes = drawn.graph.n <= limits.nodes
    communities["members"] = [
        [names[i] for i in some] if holds_nodes else []
        for some in _best_linked(group, groups, drawn.degree)
    ]
    # The level that the picture was laid out for has the colors of the plots; others get those
    # that differ in this picture, without another layout.
    centers = np.column_stack([communities["x"], communities["y"]])
    colored = partition_colors(partition, None, None if is_laid_out else centers)
    rgb = np.round(colored[:groups] * 255).astype(np.uint8)
    colors = ["#" + bytes(row).hex() for row in rgb]
    palette = list(dict.fromkeys(colors))
    number = {color: c for c, color in enumerate(palette)}
    found: dict[str, Any] = {
        "k": k,
        "several": several,
        "palette": palette,
        "colorOf": [number[color] for color in colors],
        "communities": communities,
        "links": _links(links.between(), several, limits.links),
        "community": _packed(z, "u4") if holds_nodes else None,
        "confidence": None,
        "runnerUp": None,
        "stability": None,
    }
    if confidence is not None:
        total = np.bincount(group, weights=confidence, minlength=groups)
        communities["confidence"] = np.round(total / communities["size"], 4).tolist()
        if holds_nodes:
            found["confidence"] = _packed(confidence * _PROBABILITY_STEPS, "u2")
            found["runnerUp"] = _packed(partition.runner_up() + 1, "u4")
    if stability is not None:
        communities["stability"] = [
            None if np.isnan(share) else round(share, 4)
            for share in stability.communities[:several].tolist()
        ] + [None] * (groups - several)
        if holds_nodes:
            steps = np.where(
                np.isnan(stability.nodes), _UNKNOWN, stability.nodes * _PROBABILITY_STEPS
            )
            found["stability"] = _packed(steps, "u2")
    return found


def _communities(
    partition: "Partition", drawn: _Drawn, several: int, links: CommunityLinks
) -> dict[str, Any]:
    """Return the numbers of the communities of several nodes, then those of all single nodes."""
    graph, _, degree, xy = drawn
    group, groups = np.minimum(partition.labels, several), min(partition.k, several + 1)
    sizes = np.bincount(group, minlength=groups)
    first, second = np.minimum(links.ends.T, several)
    own = links.ends[:, 0] == links.ends[:, 1]
    inside = np.bincount(first, links.adjacent * own, minlength=groups).astype(int)
    # Each edge that leaves a community counts for the communities at both of its ends.
    out = np.concatenate([first[~own], second[~own]])
    leaving = np.bincount(out, np.tile(links.adjacent[~own], 2), minlength=groups)
    center = np.column_stack(
        [np.bincount(group, weights=xy[:, axis], minlength=groups) / sizes for axis in (0, 1)]
    )
    # A disc that is filled evenly has half of its squared radius as mean squared distance.
    far = 2.0 * np.bincount(group, ((xy - center[group]) ** 2).sum(axis=1), minlength=groups)
    return {
        "size": sizes.tolist(),
        "inside": inside.tolist(),
        "leaving": leaving.astype(int).tolist(),
        "conductance": np.round(conductance(graph, partition)[:several], 4).tolist()
        + [None] * (groups - several),
        "degree": np.round(
            np.bincount(group, weights=degree, minlength=groups) / sizes, 2
        ).tolist(),
        "x": np.round(center[:, 0], 5).tolist(),
        "y": np.round(center[:, 1], 5).tolist(),
        "radius": np.round(np.sqrt(far / sizes), 5).tolist(),
    }


def _best_linked(z: Ints, k: int, degree: Ints) -> list[list[int]]:
    """Return the nodes of highest degree of each community."""
    order = np.lexsort((np.arange(z.size), -degree, z))
    starts = np.searchsorted(z[order], np.arange(k))
    ends = np.append(starts[1:], z.size)
    last = np.minimum(starts + _MEMBERS_NAMED, ends)
    return [order[start:end].tolist() for start, end in zip(starts, last, strict=True)]


def _links(between: CommunityLinks, several: int, most: int) -> dict[str, Any]:
    """Return the pairs of communities of several nodes with the most edges between them."""
    pairs = np.flatnonzero(between.ends[:, 1] < several)
    chosen = pairs[np.argsort(-between.adjacent[pairs], kind="stable")[:most]]
    a, b = between.ends[chosen].T
    return {
        "a": a.tolist(),
        "b": b.tolist(),
        "count": between.adjacent[chosen].tolist(),
        "total": pairs.size,
    }


def _nodes(partition: "Partition", drawn: _Drawn, names: list[str]) -> dict[str, Any]:
    graph, _, degree, xy = drawn
    plain = partition.nodes == range(graph.n)
    held: dict[str, Any] = {
        "names": None if plain else names,
        "x": _packed(xy[:, 0] * _COORDINATE_STEPS, "u2"),
        "y": _packed(xy[:, 1] * _COORDINATE_STEPS, "u2"),
        "degree": _packed(degree, "u4"),
        "strength": None,
    }
    if graph.is_weighted:
        held["strength"] = [float(f"{strength:.6g}") for strength in graph.degrees]
    return held


def _edges(ends: Ints, most: int) -> dict[str, Any]:
    total = len(ends)
    if total > most:
        chosen = np.random.default_rng(0).choice(total, most, replace=False, shuffle=False)
        ends = ends[np.sort(chosen)]
    source, target = ends.T if total else np.zeros((2, 0), np.int64)
    return {"source": _packed(source, "u4"), "target": _packed(target, "u4"), "total": total}


def _texts(nodes: Sequence[Hashable]) -> list[str]:
    """Return the names as text; with quotes if the text alone does not tell them apart."""
    texts = [name_text(node, "a report") for node in nodes]
    return texts if len(set(texts)) == len(texts) else [repr(node) for node in nodes]


def _unit_square(xy: Floats) -> Floats:
    """Move and scale positions so that the longer side of the picture is from 0 to 1."""
    if not len(xy):
        return xy
    low, high = xy.min(axis=0), xy.max(axis=0)
    scale = max(float((high - low).max()), 1e-12)
    # Centered along the shorter side.
    unit: Floats = np.clip((xy - (low + high) / 2.0) / scale + 0.5, 0.0, 1.0)
    return unit


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.round(values).astype(f"<{kind}").tobytes()).decode("ascii")
