"""Graphs by the name of a known network, for the command line and ``detect_communities``."""

import difflib

from kgroups._files import exists
from kgroups._types import Symmetrize
from kgroups._wording import argument, function, in_python, setting, shown_name
from kgroups.adapters import as_graph
from kgroups.adapters.files import STANDARD_INPUT
from kgroups.datasets.catalog import names, table_names
from kgroups.datasets.loading import Dataset, load
from kgroups.errors import FileFormatError, InputError
from kgroups.graph import Graph


def is_known_network(name: str) -> bool:
    """Tell whether a text is the name of a known network; if not, it must be that of a file.

    ``./karate`` is always a file, and ``-`` is standard input.

    Raises
    ------
    FileFormatError
        If there is no such file either.
    """
    if name in names():
        return True
    if name != STANDARD_INPUT and not exists(name):
        raise FileFormatError(_absent_message(name))
    return False


def named_graph(
    name: str,
    *,
    weight: str | None,
    source: str | None,
    target: str | None,
    symmetrize: Symmetrize | None,
) -> tuple[Graph, Dataset]:
    """Return the graph of a known network, converted as the options say, and the network."""
    if weight not in (None, "weight"):
        msg = (
            f"the weights of a known network are called 'weight', got {setting('weight', weight)}."
            f"\n  Leave {argument('weight')} out, or pass {setting('weight', None)}."
        )
        raise InputError(msg)
    if (source, target) != (None, None):
        msg = (
            f"{argument('source')} and {argument('target')} name the columns of a file, got the "
            f"known network {name}.\n  Leave them out."
        )
        raise InputError(msg)
    dataset = load(name, symmetrize=symmetrize)
    return as_graph(dataset.graph, weight=weight), dataset


def _absent_message(name: str) -> str:
    if name in table_names():
        hand_over = "write it to a file and pass the file"
        return (
            f"the graph must be a file or a known network, got {name!r}, which is a known table.\n"
            f"  A table has no edges: build a graph from kgroups.datasets.load_table({name!r})"
            f"{in_python(', such as nearest neighbors, and pass that') or f', {hand_over}'}."
        )
    close = difflib.get_close_matches(name, names(), n=3)
    guess = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    return (
        f"the graph must be a file or a known network, got {shown_name(name)}, which is neither."
        f"{guess}\n"
        f"  {function('kgroups.datasets.names()')} lists the known networks."
    )
