"""Pajek networks (``.net``, ``.paj``): vertices, edges, arcs, their lists and matrices."""

import re
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from kgroups._types import Floats, Symmetrize
from kgroups.adapters.direction import graph_of_edges, refuse_directed
from kgroups.adapters.matrix import from_dense
from kgroups.adapters.text import (
    ReadOptions,
    check_claim,
    format_error,
    named_as_in_file,
    numbered_lines,
    plain_number,
)
from kgroups.adapters.weights import checked_weights, no_such_attribute
from kgroups.errors import FileFormatError
from kgroups.graph import Graph

__all__ = ["read_pajek"]

_WORD = re.compile(r'"([^"]*)"|(\S+)')
_HINT = "See the Pajek manual for the form of a network file."


def read_pajek(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read the first network of a Pajek file.

    An edge counts as one arc each way where the file also has arcs.
    """
    network = _Network(name)
    for number, line in numbered_lines(file, name):
        words = [quoted or bare for quoted, bare in _WORD.findall(line)]
        if not words or words[0].startswith("%"):
            continue
        if words[0].startswith("*"):
            if words[0].lower() in ("*partition", "*vector", "*cluster", "*permutation"):
                break
            network.start_section(number, words)
        else:
            network.section_reader(number, words)
    return network.graph(file, options.weight, options.symmetrize)


class _Network:
    def __init__(self, name: str) -> None:
        self.name = name
        self.n: int | None = None
        self.labels: dict[int, str] = {}
        self.edges: list[tuple[int, int, float]] = []
        self.arcs: list[tuple[int, int, float]] = []
        self.rows: list[list[float]] = []
        self.ends = self.edges
        self.section_reader: Callable[[int, list[str]], None] = self._no_section

    def _error(self, line: int | None, problem: str) -> FileFormatError:
        return format_error(self.name, line, problem, _HINT)

    def start_section(self, line: int, words: list[str]) -> None:
        title = words[0].lower()
        if title == "*network":
            self.section_reader = self._no_section
        elif title == "*vertices":
            if self.n is not None:
                raise self._error(line, "a file must hold one network, got a second *Vertices")
            self.n = self._whole(line, words[1] if len(words) > 1 else "")
            self.section_reader = self._vertex
        elif self.n is None:
            raise self._error(line, f"*Vertices must come before {words[0]}")
        elif title in ("*edges", "*arcs"):
            self.ends = self.edges if title == "*edges" else self.arcs
            self.section_reader = self._edge
        elif title in ("*edgeslist", "*arcslist"):
            self.ends = self.edges if title == "*edgeslist" else self.arcs
            self.section_reader = self._star
        elif title == "*matrix":
            self.section_reader = self._matrix_row
        else:
            raise self._error(line, f"{words[0]} is not a section of a network")

    def _no_section(self, line: int, words: list[str]) -> None:
        raise self._error(line, f"a section such as *Vertices must come first, got {words[0]!r}")

    def _whole(self, line: int, word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise self._error(line, f"a whole number is needed, got {word!r}")
        return int(word)

    def _number(self, line: int, word: str) -> float:
        try:
            return plain_number(word)
        except ValueError:
            raise self._error(line, f"a number is needed, got {word!r}") from None

    def _vertex_number(self, line: int, word: str) -> int:
        number = self._whole(line, word)
        if not 1 <= number <= (self.n or 0):
            raise self._error(line, f"vertices are numbered from 1 to {self.n}, got {number}")
        return number - 1

    def _vertex(self, line: int, words: list[str]) -> None:
        vertex = self._vertex_number(line, words[0])
        if vertex in self.labels:
            raise self._error(line, f"vertex {vertex + 1} is named twice")
        self.labels[vertex] = words[1] if len(words) > 1 else words[0]

    def _edge(self, line: int, words: list[str]) -> None:
        if len(words) < 2:
            raise self._error(line, "an edge needs two vertices, got one")
        u, v = (self._vertex_number(line, word) for word in words[:2])
        self.ends.append((u, v, self._number(line, words[2]) if len(words) > 2 else 1.0))

    def _star(self, line: int, words: list[str]) -> None:
        centre, *others = (self._vertex_number(line, word) for word in words)
        self.ends.extend((centre, other, 1.0) for other in others)

    def _matrix_row(self, line: int, words: list[str]) -> None:
        if len(words) != self.n or len(self.rows) == self.n:
            raise self._error(line, f"*Matrix needs {self.n} rows of {self.n} numbers")
        self.rows.append([self._number(line, word) for word in words])

    def graph(self, file: BinaryIO, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
        if self.n is None:
            raise self._error(None, "a Pajek network must have a *Vertices section")
        if weight not in (None, "weight"):
            raise no_such_attribute(str(weight), ["weight"], kind="attribute")
        check_claim(self.name, self.n, len(self.labels) + len(self.edges) + len(self.arcs))
        nodes = tuple(named_as_in_file(self._labels(), file, self.name))
        if self.rows:
            if len(self.rows) != self.n or self.edges or self.arcs:
                raise self._error(None, f"*Matrix needs {self.n} rows, and no other edges")
            return from_dense(np.array(self.rows), weight, symmetrize, nodes)
        edges = self.edges
        if self.arcs:
            refuse_directed(f"{self.name} with *Arcs", symmetrize)
            edges = [*edges, *((v, u, w) for u, v, w in edges if u != v), *self.arcs]
        u = np.fromiter((edge[0] for edge in edges), np.int64, len(edges))
        v = np.fromiter((edge[1] for edge in edges), np.int64, len(edges))
        weights: Floats | None = None
        if weight is not None and symmetrize != "union":
            weights = checked_weights(
                np.array([edge[2] for edge in edges]), lambda t: (nodes[u[t]], nodes[v[t]])
            )
        return graph_of_edges(u, v, weights, nodes, symmetrize)

    def _labels(self) -> list[str]:
        """Labels where they are unique, else the vertex numbers."""
        n = self.n or 0
        labels = [self.labels.get(vertex, str(vertex + 1)) for vertex in range(n)]
        return labels if len(set(labels)) == n else [str(vertex + 1) for vertex in range(n)]
