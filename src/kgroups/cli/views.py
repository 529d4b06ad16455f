"""Text for the terminal: aligned columns, and the output of each command."""

import json
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import kgroups as kg
from kgroups._wording import counted_communities
from kgroups.cli.files import Source
from kgroups.datasets import DatasetInfo, TableInfo
from kgroups.partition import Levels, Partition
from kgroups.partition.tables import not_computed, overview

if TYPE_CHECKING:
    from kgroups.blocks import StoredPartition
    from kgroups.scoring import Scores
    from kgroups.spectrum import Spectrum
    from kgroups.uncertainty import KDistribution


# Communities that are listed; the others are counted.
_MOST_ROWS = 20
# Nodes with a lower confidence are listed, up to a number.
_SURE, _MOST_UNCERTAIN = 0.9, 10
# What computes levels, P(k) and stability.
_FLAGS = ("--levels", "--k-distribution", "--stability")

Agreement = Mapping[str, Mapping[str, float]]


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document."""
    print(json.dumps(document, indent=2, allow_nan=False))


def width() -> int:
    """Return the width of the terminal in columns; 100 if there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def printable(value: object) -> str:
    """Return text with control and invisible characters escaped."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def number(value: float) -> str:
    """Return a score with three decimals, a whole number without."""
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def shortened(texts: Iterable[str], limit: int) -> str:
    """Join texts with commas, ending with dots before the line exceeds ``limit``."""
    line = ""
    for text in texts:
        longer = f"{line}, {text}" if line else text
        if len(longer) > limit - 5:
            return f"{line}, ..." if line else f"{text[: max(limit - 5, 1)]}..."
        line = longer
    return line


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a name and a value per line, the values aligned."""
    rows = [(name, printable(value)) for name, value in pairs]
    wide = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {name:<{wide}}  {value}".rstrip() for name, value in rows)


def table(header: Sequence[str], rows: Sequence[Sequence[object]], *, align: str) -> str:
    """Return aligned columns; ``align`` has ``r`` or ``l`` for each column."""
    lines = [list(header), *([printable(cell) for cell in row] for row in rows)]
    columns = [
        [f"{cell:{'>' if side == 'r' else '<'}{max(map(len, column))}}" for cell in column]
        for column, side in zip(zip(*lines, strict=True), align, strict=True)
    ]
    return "\n".join(("  " + "  ".join(cells)).rstrip() for cells in zip(*columns, strict=True))


def counted(number_of: int, one: str, many: str) -> str:
    """Return a number with the word that fits it."""
    return f"{number_of:,} {one if number_of == 1 else many}"


def detection(
    source: Source,
    partition: Partition,
    scores: "Scores",
    agreement: Agreement,
    levels: Levels | None = None,
) -> str:
    """Return the communities, the levels if they were wanted, scores, and the report."""
    sentences, missing = overview(partition), not_computed(partition, _FLAGS)
    if missing:
        sentences.append(f"Not computed: {', '.join(missing)}.")
    parts = [headline(source), "\n".join(map(wrapped, sentences))]
    if partition.k:
        parts.append(_communities(partition))
    parts += _uncertain_nodes(partition)
    if partition.known_k_distribution is not None:
        parts.append(_numbers(partition.known_k_distribution))
    parts += [] if levels is None else [_levels(levels)]
    parts += [_scores(scores, weighted=source.graph.is_weighted), *_agreement(agreement)]
    spectrum, report = partition.known_spectrum, partition.report
    if spectrum is not None:
        parts.append(_uncertainty(spectrum))
    if report is not None:
        more = [*partition._known_warnings(), *partition._instability()][len(report.warnings) :]
        # The headline has the sentence on weights already.
        told = [line for line in report.lines() if line != report.about_weights]
        lines = [*told, *(f"Warning: {warning}" for warning in more)]
        parts.append("\n".join(["Report", *map(wrapped, lines)]))
    return "\n\n".join(parts)


def stored_detection(
    about: Mapping[str, Any], partition: "StoredPartition", scores: "Scores"
) -> str:
    """Return the communities of a stored graph, scores, and the report."""
    size = [
        counted(about["nodes"], "node", "nodes"),
        counted(about["edges"], "edge", "edges"),
        *(["weighted"] if about["weighted"] else []),
        *([counted(loops, "self-loop", "self-loops")] if (loops := about["self_loops"]) else []),
    ]
    names = about["files"]
    head = printable(names[0]) + (f" and {len(names) - 1:,} more" if len(names) > 1 else "")
    n, shown = max(about["nodes"], 1), partition.sizes[:_MOST_ROWS].tolist()
    rows = [(a, nodes, f"{nodes / n:.1%}") for a, nodes in enumerate(shown)]
    parts = [f"{head}\n{', '.join(size)}"]
    if rows:
        text = table(("community", "nodes", "share"), rows, align="rrr")
        hidden = partition.k - len(rows)
        if hidden:
            rest = counted(int(partition.sizes[len(rows) :].sum()), "node", "nodes")
            text += f"\n  and {hidden:,} smaller ones of {rest} together; --output FILE writes all"
        parts.append(text)
    parts.append(_scores(scores, weighted=about["weighted"]))
    if partition.report is not None:
        parts.append("\n".join(["Report", *map(wrapped, partition.report.lines())]))
    return "\n\n".join(parts)


def scoring(
    source: Source, path: str, partition: Partition, scores: "Scores", agreement: Agreement
) -> str:
    """Return the scores of a partition from a file."""
    about = f"{printable(path)}: {counted_communities(partition.k, partition._single)}"
    return "\n\n".join(
        [
            headline(source),
            about,
            _scores(scores, weighted=source.graph.is_weighted),
            *_agreement(agreement),
        ]
    )


def description(
    source: Source,
    shape: Mapping[str, Any],
    spectrum: "Spectrum",
    numbers: "KDistribution | None" = None,
) -> str:
    """Return the size of a graph and what its spectrum shows."""
    size = facts(
        [
            ("nodes", f"{shape['nodes']:,}"),
            ("edges", f"{shape['edges']:,}"),
            ("mean degree", number(shape["mean_degree"])),
            ("largest degree", f"{shape['max_degree']:,}"),
            ("weighted", "yes" if shape["weighted"] else "no"),
            ("components", f"{shape['components']:,}"),
            ("largest component", counted(shape["largest_component"], "node", "nodes")),
            ("isolated nodes", f"{shape['isolated_nodes']:,}"),
            ("self-loops", f"{shape['self_loops']:,}"),
        ]
    )
    near = ", ".join(f"{value:.3f}" for value in spectrum.eigenvalues[-8:])
    around = facts([("eigenvalues near 1", near or "none"), ("gap at 1", number(spectrum.gap))])
    head = "\n".join([title(source), *_about_weights(source), size])
    parts = [head, _uncertainty(spectrum), f"Spectrum\n{around}"]
    if numbers is not None:
        parts.append(_numbers(numbers))
    warnings = [wrapped(f"Warning: {warning}") for warning in spectrum.warnings]
    return "\n\n".join([*parts, *(["\n".join(warnings)] if warnings else [])])


def catalog(
    networks: Sequence[DatasetInfo], tables: Sequence[TableInfo], folders: Sequence[str]
) -> str:
    """Return the known networks and tables: sizes, whether files are present, and sources."""
    network_rows = [
        (each.name, each.family, f"{each.nodes:,}", f"{each.edges:,}", _place(each), each.title)
        for each in networks
    ]
    table_rows = [
        (each.name, f"{each.rows:,} x {each.columns}", each.classes, _place(each), each.title)
        for each in tables
    ]
    about = (
        "kgroups downloads nothing. Put the files of a network or table that is absent into a "
        "folder under the names below, and set the environment variable KGROUPS_DATA to the path "
        "of the folder. Each file is a table with the columns source,target or node,label, or "
        "with the columns of the data and a label, or an npz file with the arrays n, u, v and "
        "truth. A file must have the checksum that `kgroups datasets --json` prints. To read a "
        "graph in the format of its archive, pass its path: `kgroups detect PATH`."
    )
    parts = [
        "Networks",
        table(("name", "family", "nodes", "edges", "files", "what"), network_rows, align="llrrll"),
        "\nTables (rows with a class each, no graph; kgroups.datasets.load_table)",
        table(("name", "rows x columns", "classes", "files", "what"), table_rows, align="lrrll"),
        "\nFiles that do not ship with kgroups are looked for in",
        *(f"  {printable(folder)}" for folder in folders),
        textwrap.fill(about, width()),
        "\nWhom to cite, and where absent files come from",
        *_sources((*networks, *tables)),
    ]
    return "\n".join(parts)


def _sources(entries: Sequence[DatasetInfo | TableInfo]) -> list[str]:
    """Return the source of each entry below the names of all entries that have it."""
    sources: dict[tuple[str, str, str], list[DatasetInfo | TableInfo]] = {}
    for entry in entries:
        key = (entry.citation, entry.archive, entry.origin)
        sources.setdefault(key, []).append(entry)
    lines = []
    for (citation, archive, copy), same in sources.items():
        names = ", ".join(entry.name for entry in same)
        lines.append(wrapped(names, indent="  "))
        absent = [entry for entry in same if _place(entry) == "absent"]
        files = ", ".join(file.file for entry in absent for file in entry.files)
        where = [("  files", files), ("  archive", archive), ("  copy", copy)] if absent else []
        lines.append(facts([("  creator", citation), *where]))
    return lines


def _place(entry: DatasetInfo | TableInfo) -> str:
    return "bundled" if entry.bundled else "present" if entry.present else "absent"


def title(source: Source) -> str:
    """Return the name of a graph, with what it is if that is known."""
    about = "" if source.dataset is None else f": {source.dataset.title}"
    return printable(source.name) + about


def headline(source: Source) -> str:
    """Return the name and the size of a graph."""
    graph = source.graph
    size = [counted(graph.n, "node", "nodes"), counted(graph.m, "edge", "edges")]
    if graph.is_weighted:
        size.append("weighted")
    if graph.n_loops:
        size.append(counted(graph.n_loops, "self-loop", "self-loops"))
    return "\n".join([title(source), ", ".join(size), *_about_weights(source)])


def _about_weights(source: Source) -> list[str]:
    text = printable(source.graph.about_weights)
    return [textwrap.fill(text, width(), subsequent_indent="  ")] if text else []


def _communities(partition: Partition) -> str:
    n = max(partition.labels.size, 1)
    shown = min(partition.k, _MOST_ROWS)
    known, stability = partition.known_confidence, partition.known_stability
    taken = 42 + (0 if known is None else 23) + (0 if stability is None else 11)
    limit = max(width() - taken, 20)
    conductances = kg.scoring.conductance(partition.graph, partition)
    members = [np.flatnonzero(partition.labels == a)[:limit].tolist() for a in range(shown)]
    sure = [] if known is None else [known.own[partition.labels == a] for a in range(shown)]
    rows = [
        (
            a,
            partition.sizes[a],
            f"{partition.sizes[a] / n:.1%}",
            number(float(conductances[a])),
            *((number(float(sure[a].mean())), np.count_nonzero(sure[a] < _SURE)) if sure else ()),
            *(() if stability is None else (_share(float(stability.communities[a])),)),
            shortened((printable(partition.nodes[i]) for i in members[a]), limit),
        )
        for a in range(shown)
    ]
    more = [] if known is None else ["confidence", f"below {_SURE}"]
    more += [] if stability is None else ["stability"]
    header = ("community", "nodes", "share", "conductance", *more, "members")
    text = table(header, rows, align="r" * (len(header) - 1) + "l")
    hidden = partition.k - shown
    if hidden:
        nodes = counted(int(partition.sizes[shown:].sum()), "node", "nodes")
        text += f"\n  and {hidden:,} smaller ones of {nodes} together; --output FILE writes all"
    return text


def _uncertain_nodes(partition: Partition) -> list[str]:
    """Return the table of the nodes with the lowest confidence, if that was computed."""
    known = partition.known_confidence
    if known is None or partition.k < 2:
        return []
    nodes = partition.boundary(_SURE)
    if not nodes:
        return [f"Every node has a confidence of at least {_SURE}, given the model and k"]
    order = np.argsort(known.own, kind="stable")[: min(len(nodes), _MOST_UNCERTAIN)].tolist()
    rows = [
        (partition.nodes[i], partition.labels[i], number(float(known.own[i])), known.runner_up[i])
        for i in order
    ]
    text = table(("node", "community", "confidence", "runner-up"), rows, align="lrrr")
    about = f"Nodes with a confidence below {_SURE}, given the model and k"
    if not known.converged:
        about += " (belief propagation did not converge)"
    hidden = len(nodes) - len(rows)
    more = f"\n  and {hidden:,} more; --output FILE writes all" if hidden else ""
    return [f"{about}\n{text}{more}"]


def _share(value: float) -> str:
    return "-" if np.isnan(value) else number(value)


def _numbers(numbers: "KDistribution") -> str:
    """Return how probable each number of communities is."""
    return "\n".join(["Number of communities", *map(wrapped, numbers.lines())])


def _levels(levels: Levels) -> str:
    """Return a line a level; the one whose communities are listed is marked."""
    marks = ["*" if place == levels.returned else "" for place in range(len(levels))]
    nats = [f"{value:,.1f}" for value in levels.nats]
    limit = max(width() - 42, 20)
    sizes = [shortened((str(size) for size in level.sizes), limit) for level in levels]
    rows = list(zip(marks, levels.names, levels.k, sizes, nats, strict=True))
    header = ("", "level", "communities", "nodes", "nats saved")
    return f"Levels, finest first; * is listed above\n{table(header, rows, align='llrlr')}"


def _scores(scores: "Scores", *, weighted: bool) -> str:
    names = ("modularity", "coverage", "performance", "mean_conductance")
    pairs = ((name.replace("_", " "), number(getattr(scores, name))) for name in names)
    head = "Scores"
    if weighted:
        head += " (edges count by their weights in modularity and conductance)"
    return f"{head}\n{facts(pairs)}"


def _agreement(agreement: Agreement) -> list[str]:
    if not agreement:
        return []
    rows = [(name, number(v["overlap"]), number(v["ami"])) for name, v in agreement.items()]
    compared = table(("labels", "overlap", "AMI"), rows, align="lrr")
    return [f"Agreement with the known labels\n{compared}"]


def _uncertainty(spectrum: "Spectrum") -> str:
    rows = []
    for choice, k in spectrum.shown_k_at.items():
        name = {"nonbacktracking": "non-backtracking"}.get(choice, choice.replace("-", " "))
        rows.append((name, number(spectrum.r_at[choice]), k))
    shown = table(("r by", "r", "k"), rows, align="lrr")
    about = "" if spectrum.is_exact else f" (between {spectrum.k_low} and {spectrum.k_high})"
    return f"Number of communities that the spectrum shows{about}\n{shown}"


def wrapped(sentence: str, indent: str = "    ") -> str:
    """Return an indented sentence in lines of the width of the terminal."""
    return textwrap.fill(
        printable(sentence),
        width(),
        initial_indent="  ",
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
