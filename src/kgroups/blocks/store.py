"""A graph in a folder: blocks of rows that are read one at a time."""

import os
import re
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from kgroups._csr import index_type, rows_of_edges
from kgroups._output import import_pyarrow
from kgroups._types import Indices, Ints
from kgroups._wording import argument, counted, in_python, setting
from kgroups.blocks.folder import FileInfo, checked_record, checksum_of
from kgroups.errors import InputError, StoreError
from kgroups.graph import Graph

COLORS = 8
"""Classes into which nodes are divided by a hash; a block has rows of one of them."""

STORE_VERSION = 1

_RECORD = "store.json"
_LEAST_MEMORY = 300_000_000
_BYTES_OF_UNIT = {
    **{f"{letter}B": 1000**power for power, letter in enumerate(("", "K", "M", "G", "T"))},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
_NAMES_AT_ONCE = 1 << 16


def memory_bytes(memory: object) -> int:
    """Return a number of bytes that is given as such or as text.

    Examples
    --------
    >>> memory_bytes("500MB"), memory_bytes("1.5 GiB"), memory_bytes(10**9)
    (500000000, 1610612736, 1000000000)
    """
    size: float | None = None
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*", memory)
        factor = None if found is None else _BYTES_OF_UNIT.get(found[2].upper() or "B")
        if found is not None and factor is not None:
            size = float(found[1]) * factor
    elif isinstance(memory, int | float | np.integer) and not isinstance(memory, bool):
        size = float(memory)
    if size is None or not _LEAST_MEMORY <= size < 2**63:
        msg = (
            f"{argument('memory')} must be at least 300 MB, as a number of bytes or a text such as "
            f"'2GB', got {memory!r}.\n  Pass for instance {setting('memory', '2GB')}."
        )
        raise InputError(msg)
    return int(size)


class BlockInfo(NamedTuple):
    """A block: the rows at positions from ``first`` to before ``last``, which have one color."""

    number: int
    first: int
    last: int
    entries: int
    color: int


class Block(NamedTuple):
    """The rows at positions from ``first`` to before ``last``, in compressed sparse rows.

    ``indices`` are positions, sorted in each row; ``weights`` are whole numbers of the unit of the
    store, or None if all weights are equal.
    """

    first: int
    last: int
    indptr: Ints
    indices: Indices
    weights: Ints | None


class NodeNames(Sequence[Hashable]):
    """The names of nodes in sorted order, each of which becomes a Python object when it is used.

    Parameters
    ----------
    names : ndarray of int, or pyarrow array of text
        All names.
    """

    def __init__(self, names: Any) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, place: int) -> Hashable: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Hashable, ...]: ...

    def __getitem__(self, place: int | slice) -> Hashable | tuple[Hashable, ...]:
        if isinstance(place, slice):
            return tuple(self._objects(self._names[place]))
        name = self._names[range(len(self))[place]]
        one: Hashable = name.as_py() if hasattr(name, "as_py") else int(name)
        return one

    def chosen(self, ranks: Ints) -> list[Hashable]:
        """Return the names of some ranks."""
        names = self._names.take(ranks)
        return self._objects(names)

    def __iter__(self) -> Iterator[Hashable]:
        for first in range(0, len(self), _NAMES_AT_ONCE):
            yield from self._objects(self._names[first : first + _NAMES_AT_ONCE])

    @staticmethod
    def _objects(names: Any) -> list[Hashable]:
        return names.to_pylist() if hasattr(names, "to_pylist") else names.tolist()  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"NodeNames({counted(len(self), 'node')})"


class _Used:
    """What a store has read and verified; not part of its value."""

    def __init__(self) -> None:
        self.bytes_read = self.entries_read = 0
        self.verified: set[str] = set()


class StoredGraph:
    """A graph in a folder that :func:`kgroups.open_graph` has written.

    Nodes have a *rank*, their place among the sorted names, and a *position*. A hash of the rank
    gives each node one of eight colors, and positions sort nodes by color, then by rank. A block is
    a range of positions of one color: the rows of the adjacency matrix there, without self-loops.
    Rows, columns and all arrays that have an entry per node follow the positions.

    Parameters
    ----------
    path : path
        The folder.
    memory : int
        Bytes that work on the graph may take.

    Attributes
    ----------
    path : Path
        The folder.
    memory : int
        As given.
    n, m : int
        Number of nodes and of edges, self-loops and parallel edges counted each.
    entries : int
        Number of entries of all blocks: two for each pair of linked nodes.
    n_loops : int
        Number of self-loops, parallel ones counted each.
    weighted : bool
        Whether weights differ.
    unit : float
        Weights are stored as whole numbers of this unit, a power of two.
    common_weight : float
        The weight of each edge if the graph is not weighted.
    counted : bool
        Whether edges have no weights but their number.
    about_weights : str
        A sentence on the column that the weights were read from, for reports.
    blocks : tuple of BlockInfo
        The blocks, in the order of their positions.
    colors : tuple of int
        First position of each color, and the number of nodes.
    made_of : dict
        The paths, sizes and times of the files, and the options.

    Notes
    -----
    The sizes of all files are checked when the store is opened, and the checksum of a file when it
    is first read. A store can be pickled: its path is, and the folder is opened again elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import kgroups as kg
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "edges.npy"), [[0, 1], [1, 2], [2, 0]])
    ...     stored = kg.open_graph(Path(folder, "edges.npy"), store=Path(folder, "triangle"))
    ...     stored.to_graph()
    Graph(3 nodes, 3 edges)
    """

    path: Path
    memory: int
    n: int
    m: int
    entries: int
    n_loops: int
    weighted: bool
    unit: float
    common_weight: float
    counted: bool
    about_weights: str
    blocks: tuple[BlockInfo, ...]
    colors: tuple[int, ...]
    made_of: dict[str, Any]

    def __init__(self, path: str | os.PathLike[str], memory: int) -> None:
        folder = Path(os.path.abspath(path))  # noqa: PTH100 (resolve follows links)
        record = _read_record(folder)
        blocks = record["blocks"]
        values = {
            **{name: record[name] for name in ("n", "m", "entries", "n_loops", "weighted", "unit")},
            **{name: record[name] for name in ("common_weight", "counted", "about_weights")},
            "made_of": record["made_of"],
            "path": folder,
            "memory": memory,
            "colors": tuple(record["colors"]),
            "blocks": tuple(
                BlockInfo(b, one["first"], one["last"], one["entries"], one["color"])
                for b, one in enumerate(blocks)
            ),
            "_files": {name: FileInfo(*info) for name, info in record["files"].items()},
            "_block_files": tuple(
                {name: FileInfo(*info) for name, info in one["files"].items()} for one in blocks
            ),
            "_used": _Used(),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        for files in (self._files, *self._block_files):
            for info in files.values():
                self._check_size(info)

    _files: dict[str, FileInfo]
    _block_files: tuple[dict[str, FileInfo], ...]
    _used: _Used

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a StoredGraph is frozen: {name!r} cannot be set."
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredGraph, (str(self.path), self.memory)

    def __repr__(self) -> str:
        parts = (
            counted(self.n, "node"),
            counted(self.m, "edge"),
            *(["weighted"] if self.weighted else []),
            counted(len(self.blocks), "block"),
        )
        return f"StoredGraph({', '.join(parts)} in {str(self.path)!r})"

    def __len__(self) -> int:
        return self.n

    @property
    def bytes_read(self) -> int:
        """Bytes of all blocks that this object has read."""
        return self._used.bytes_read

    @property
    def entries_read(self) -> int:
        """Entries of all blocks that this object has read."""
        return self._used.entries_read

    @cached_property
    def strength(self) -> Ints:
        """The sum of the weights of each node in units, or its degree if there are no weights."""
        return self._mapped(self._files["strength"], (self.n,), np.int64)  # type: ignore[no-any-return]

    @cached_property
    def position(self) -> Indices:
        """The position of each rank."""
        return self._mapped(self._files["position"], (self.n,), index_type(self.n))  # type: ignore[no-any-return]

    @cached_property
    def loops(self) -> Ints:
        """The positions of nodes with self-loops, and the sums of their weights in units."""
        return self._mapped(self._files["loops"], None, np.int64)  # type: ignore[no-any-return]

    @cached_property
    def names(self) -> Any:
        """The names by rank: an array of NumPy, or of Arrow if they are text."""
        info = self._files["names"]
        if info.name.endswith(".npy"):
            return self._mapped(info, (self.n,), np.int64)
        pyarrow, _ = import_pyarrow("Stores with text as node names")
        self._verify(info)
        with pyarrow.memory_map(str(self.path / info.name)) as file:
            return pyarrow.ipc.open_file(file).get_batch(0).column(0)

    @cached_property
    def nodes(self) -> NodeNames:
        """The names by rank, as Python objects."""
        return NodeNames(self.names)

    def read(self, b: int) -> Block:
        """Return a block.

        Parameters
        ----------
        b : int
            Its number.

        Returns
        -------
        Block
            Its arrays are mapped from the files; what is written to them stays in memory.
        """
        info, files = self.blocks[b], self._block_files[b]
        indptr = self._mapped(files["indptr"], (info.last - info.first + 1,), np.int64)
        indices = self._mapped(files["indices"], (info.entries,), index_type(self.n))
        weights = None
        if self.weighted:
            weights = self._mapped(files["weights"], (info.entries,), np.int64)
        arrays = (indptr, indices, weights)
        self.count(info.entries, sum(one.nbytes for one in arrays if one is not None))
        return Block(info.first, info.last, *arrays)

    def count(self, entries: int, size: int) -> None:
        """Count entries, and their bytes, that were read elsewhere on behalf of this object."""
        self._used.entries_read += entries
        self._used.bytes_read += size

    def to_graph(self) -> Graph:
        """Return the graph in memory, with its nodes in sorted order.

        Returns
        -------
        Graph
            Parallel edges are counted only if the edges have no weights.
        """
        rank = np.empty(self.n, np.int64)
        rank[self.position] = np.arange(self.n)
        ends, units = [self.loops[:1].repeat(2, axis=0)], [self.loops[1]]
        for b in range(len(self.blocks)):
            block = self.read(b)
            row = np.repeat(np.arange(block.first, block.last), np.diff(block.indptr))
            upper = rank[row] < rank[block.indices]
            ends.append(np.stack([row[upper], block.indices[upper].astype(np.int64)]))
            given = block.weights
            common = round(self.common_weight / self.unit)
            units.append(np.full(ends[-1].shape[1], common) if given is None else given[upper])
        u, v = rank[np.concatenate(ends, axis=1)]
        unit = np.concatenate(units)
        rows = rows_of_edges(u, v, unit * self.unit, self.n)
        parallel = self.counted and bool(np.any(unit > 1))
        multiplicity = None
        if parallel and rows.weights is not None:
            multiplicity = rows.weights.astype(np.int64)
        names = self.nodes[:]
        return Graph(
            *rows[:3],
            multiplicity=multiplicity,
            nodes=None if names == tuple(range(self.n)) else names,
            about_weights=self.about_weights,
        )

    def _estimated_spectrum(self, **given: Any) -> Any:
        """Return what :func:`kgroups.estimate_k` returns, which is below this package."""
        from kgroups.blocks.estimate import estimated_spectrum

        return estimated_spectrum(self, given)

    def _check_size(self, info: FileInfo) -> None:
        try:
            size = (self.path / info.name).stat().st_size
        except OSError:
            raise _damaged(self.path, f"{info.name!r} is missing") from None
        if size != info.size:
            raise _damaged(self.path, f"{info.name!r} has {size} bytes, not {info.size}")

    def _verify(self, info: FileInfo) -> None:
        """Raise unless a file is as it was written; it is read as a whole once."""
        if info.name in self._used.verified:
            return
        self._check_size(info)
        if checksum_of(self.path / info.name) != info.checksum:
            raise _damaged(self.path, f"the content of {info.name!r} has changed")
        self._used.verified.add(info.name)

    def _mapped(self, info: FileInfo, shape: tuple[int, ...] | None, kind: Any) -> Any:
        """Return an array of a file, which may be written to without changing the file."""
        self._verify(info)
        array = np.load(self.path / info.name, mmap_mode="c").view(np.ndarray)
        if array.dtype != kind or (shape is not None and array.shape != shape):
            raise _damaged(self.path, f"{info.name!r} has another form")
        return array


def is_store(folder: Path) -> bool:
    """Return whether a folder holds a store, damaged or not."""
    return (folder / _RECORD).is_file()


def _read_record(folder: Path) -> dict[str, Any]:
    try:
        content = (folder / _RECORD).read_bytes()
    except OSError:
        msg = (
            f"a store must be a folder with a file {_RECORD}, got {str(folder)!r}.\n"
            f"  Check the path{in_python(', or make the store: open_graph(edges, store=folder)')}."
        )
        raise StoreError(msg) from None
    record = checked_record(content)
    if record is None or record.get("format") != "kgroups store":
        raise _damaged(folder, f"the content of {_RECORD!r} has changed")
    if record["version"] != STORE_VERSION:
        msg = (
            f"this version of kgroups reads stores of version {STORE_VERSION}, got version "
            f"{record['version']} in {str(folder)!r}.\n  Delete the folder, and make it again."
        )
        raise StoreError(msg)
    return record


def _damaged(folder: Path, what: str) -> StoreError:
    return StoreError(
        f"the files of a store must be as they were written, but {what} in {str(folder)!r}.\n"
        "  Copy them again, or delete the folder and make the store again."
    )
