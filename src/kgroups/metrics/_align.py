"""Two labelings, node by node: matched by name where both have names, by place where not."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Ints
from kgroups.adapters.labels import (
    Labelling,
    check_length,
    positions_of,
    read_labelling,
    repeated_nodes_message,
)
from kgroups.errors import PartitionError

__all__ = ["Aligned", "align"]


class Aligned(NamedTuple):
    """Class and group of each node, with the caller's names of the classes and groups."""

    truth: Ints
    labels: Ints
    truth_names: Sequence[Hashable]
    label_names: Sequence[Hashable]


def align(truth: Any, labels: Any) -> Aligned:
    """Return two labelings in one node order.

    Two labelings with node names are matched by name. Bare arrays are matched by place, also
    with a Partition or an igraph clustering, whose node order is that of its graph. Sets and
    dicts have no such order: beside a bare array their nodes must be named ``0 .. n-1``, and
    a dict must list them so.
    """
    left, right = read_labelling(truth), read_labelling(labels)
    if left.nodes is not None and right.nodes is not None:
        _check_distinct(left.nodes)
        codes = np.empty(left.codes.size, np.int64)
        codes[positions_of(right.nodes, left.nodes, "the truth")] = right.codes
        return Aligned(left.codes, codes, left.groups, right.groups)
    left_codes, right_codes = _by_place(left), _by_place(right)
    check_length(right_codes.size, left_codes.size, "node of the truth")
    return Aligned(left_codes, right_codes, left.groups, right.groups)


def _by_place(labelling: Labelling) -> Ints:
    nodes, n = labelling.nodes, labelling.codes.size
    if nodes is None or labelling.has_node_order or list(nodes) == list(range(n)):
        return labelling.codes
    _check_distinct(nodes)
    whole_numbers = all(isinstance(node, int | np.integer) for node in nodes)
    # A dict in another order than its keys may mean either; sets can only mean their numbers.
    is_sets = isinstance(labelling.groups, range)
    if not is_sets or not whole_numbers or set(nodes) != set(range(n)):
        msg = (
            "labels without node names can be matched with nodes named 0, 1, 2, ... only, "
            f"in that order in a dict, got node {nodes[0]!r} first.\n"
            "  Pass both labelings with node names: two dicts, sets or Partitions."
        )
        raise PartitionError(msg)
    codes = np.empty(n, np.int64)
    codes[np.array(nodes, np.int64)] = labelling.codes
    return codes


def _check_distinct(nodes: Sequence[Hashable]) -> None:
    try:
        if len(set(nodes)) == len(nodes):
            return
    except TypeError as error:
        msg = f"node names must be hashable: {error}.\n  Use numbers, strings or tuples."
        raise PartitionError(msg) from None
    seen: set[Hashable] = set()
    repeated = [node for node in nodes if node in seen or seen.add(node)]  # type: ignore[func-returns-value]
    raise PartitionError(repeated_nodes_message(list(dict.fromkeys(repeated))))
