"""What people see: each function returns the text of one command."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups.cli.sources import Source
from kgroups.cli.tables import facts, number, printable, shortened, table, width
from kgroups.datasets import DatasetInfo, TableInfo
from kgroups.partition import Partition

if TYPE_CHECKING:
    from kgroups.scoring import Scores
    from kgroups.spectrum import Spectrum

__all__ = ["catalogue", "counted", "description", "detection", "scoring"]

_ROWS = 20
_R_NAMES = {
    "mean-degree": "mean degree",
    "second-moment": "second moment",
    "nonbacktracking": "non-backtracking",
}

Agreement = Mapping[str, Mapping[str, float]]


def counted(number_of: int, one: str, many: str) -> str:
    """Return a number with the word that fits it."""
    return f"{number_of:,} {one if number_of == 1 else many}"


def detection(source: Source, partition: Partition, scores: "Scores", agreement: Agreement) -> str:
    """Return the communities, their scores, and what was noticed on the way."""
    parts = [_headline(source), counted(partition.k, "community", "communities")]
    if partition.k:
        parts[-1] += f":\n\n{_communities(partition)}"
    parts += [_scores(scores), *_agreement(agreement)]
    spectrum, report = partition.known_spectrum, partition.report
    if spectrum is not None:
        parts.append(_uncertainty(spectrum))
    if report is not None:
        lines = report.lines()
        if spectrum is not None and not report.warnings:
            lines += [f"Warning: {warning}" for warning in spectrum.warnings]
        parts.append("\n".join(["Report", *map(_wrapped, lines)]))
    return "\n\n".join(parts)


def scoring(source: Source, path: str, scores: "Scores", agreement: Agreement) -> str:
    """Return the scores of a partition from a file."""
    about = f"{printable(path)}: {counted(scores.k, 'community', 'communities')}"
    return "\n\n".join([_headline(source), about, _scores(scores), *_agreement(agreement)])


def description(source: Source, shape: Mapping[str, Any], spectrum: "Spectrum") -> str:
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
    parts = [f"{_title(source)}\n{size}", _uncertainty(spectrum), f"Spectrum\n{around}"]
    warnings = [_wrapped(f"Warning: {warning}") for warning in spectrum.warnings]
    return "\n\n".join([*parts, *(["\n".join(warnings)] if warnings else [])])


def catalogue(
    networks: Sequence[DatasetInfo], tables: Sequence[TableInfo], folders: Sequence[str]
) -> str:
    """Return what is known by name with sizes, whether it is here, and whom to cite."""
    network_rows = [
        (entry.name, f"{entry.nodes:,}", f"{entry.edges:,}", _place(entry), entry.title)
        for entry in networks
    ]
    table_rows = [
        (
            entry.name,
            f"{entry.rows:,} x {entry.columns}",
            entry.classes,
            _place(entry),
            entry.title,
        )
        for entry in tables
    ]
    parts = [
        "Networks",
        table(("name", "nodes", "edges", "files", "what"), network_rows, align="lrrll"),
        "\nWhom to cite for a network",
        facts((entry.name, entry.citation) for entry in networks),
        "\nTables (rows with a class each, no graph; kgroups.datasets.load_table)",
        table(("name", "rows x columns", "classes", "files", "what"), table_rows, align="lrrll"),
        "\nWhom to cite for a table",
        facts((entry.name, entry.citation) for entry in tables),
        "\nFiles that do not ship with kgroups are looked for in",
        *(f"  {printable(folder)}" for folder in folders),
        *_absent((*networks, *tables)),
    ]
    return "\n".join(parts)


def _absent(entries: Sequence[DatasetInfo | TableInfo]) -> list[str]:
    """Say where files that are not here come from, and under which names they are looked for."""
    absent = [entry for entry in entries if not entry.present and not entry.bundled]
    if not absent:
        return []
    about = (
        "The files of the following are absent. kgroups downloads nothing. Put the files into a "
        "folder under the names below, and set the environment variable KGROUPS_DATA to the path "
        "of the folder. Each file is a table with the columns source,target or node,label or "
        "community,node, or with the columns of the data and a label. A file must have the "
        "checksum that `kgroups datasets --json` prints. To read a graph in the format of its "
        "archive, pass its path: `kgroups detect PATH`."
    )
    sections = [
        f"  {entry.name}\n"
        + facts(
            [
                ("  files", ", ".join(data_file.file for data_file in entry.files)),
                ("  creator", entry.citation),
                ("  archive", entry.archive),
                ("  copy", entry.origin),
            ]
        )
        for entry in absent
    ]
    return ["", textwrap.fill(about, width()), *sections]


def _place(entry: DatasetInfo | TableInfo) -> str:
    if entry.bundled:
        return "bundled"
    return "present" if entry.present else "absent"


def _title(source: Source) -> str:
    title = "" if source.dataset is None else f": {source.dataset.title}"
    return printable(source.name) + title


def _headline(source: Source) -> str:
    graph = source.graph
    size = [counted(graph.n, "node", "nodes"), counted(graph.m, "edge", "edges")]
    if graph.is_weighted:
        size.append("weighted")
    if graph.n_loops:
        size.append(counted(graph.n_loops, "self-loop", "self-loops"))
    return f"{_title(source)}\n{', '.join(size)}"


def _communities(partition: Partition) -> str:
    from kgroups.scoring import conductance

    n = max(partition.labels.size, 1)
    shown = min(partition.k, _ROWS)
    room = max(width() - 42, 20)
    conductances = conductance(partition.graph, partition)
    members = [np.flatnonzero(partition.labels == a)[:room].tolist() for a in range(shown)]
    rows = [
        (
            a,
            partition.sizes[a],
            f"{partition.sizes[a] / n:.1%}",
            number(float(conductances[a])),
            shortened((printable(partition.nodes[i]) for i in members[a]), room),
        )
        for a in range(shown)
    ]
    text = table(("community", "nodes", "share", "conductance", "members"), rows, align="rrrrl")
    hidden = partition.k - shown
    if hidden:
        nodes = counted(int(partition.sizes[shown:].sum()), "node", "nodes")
        text += f"\n  and {hidden:,} smaller ones of {nodes} together; --output FILE writes all"
    return text


def _scores(scores: "Scores") -> str:
    return "Scores\n" + facts(
        [
            ("modularity", number(scores.modularity)),
            ("coverage", number(scores.coverage)),
            ("performance", number(scores.performance)),
            ("mean conductance", number(scores.mean_conductance)),
        ]
    )


def _agreement(agreement: Agreement) -> list[str]:
    if not agreement:
        return []
    rows = [
        (name, number(compared["overlap"]), number(compared["ami"]))
        for name, compared in agreement.items()
    ]
    compared = table(("labels", "overlap", "AMI"), rows, align="lrr")
    return [f"Agreement with the known labels\n{compared}"]


def _uncertainty(spectrum: "Spectrum") -> str:
    rows = [
        (_R_NAMES.get(choice, choice), number(spectrum.r_at[choice]), k)
        for choice, k in spectrum.shown_k_at.items()
    ]
    shown = table(("r by", "r", "k"), rows, align="lrr")
    about = "" if spectrum.is_exact else f" (between {spectrum.k_low} and {spectrum.k_high})"
    return f"Number of communities that the spectrum shows{about}\n{shown}"


def _wrapped(sentence: str) -> str:
    return textwrap.fill(
        printable(sentence), width(), initial_indent="  ", subsequent_indent="    "
    )
