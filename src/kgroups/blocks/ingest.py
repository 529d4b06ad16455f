"""From files with edges to a store, in stages of bounded memory that can be resumed.

1. *Reading edges*: the sources are read once, and pieces of them are written with a key for each
   name (``names.py``).
2. *Sorting names*: nodes are numbered in the order of their names, and get a position.
3. *Dealing edges*: both directions of each edge are dealt to the block of their row. Each piece
   becomes one file that is sorted by block.
4. *Writing blocks*: a block is read from these files and sorted, and parallel edges are added.

The journal says what has been done; see ``folder.py``.
"""

import math
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import index_type
from kgroups._progress import StageProgress, Stages, stage_progress, tell_share
from kgroups._types import Floats, Indices, Ints
from kgroups._wording import argument, setting
from kgroups.adapters.edges import ReadOptions
from kgroups.blocks._store_nb import deal_edges, merge_entries
from kgroups.blocks.folder import (
    FileInfo,
    Journal,
    Output,
    empty_partial,
    full_disk_explained,
    is_partial,
    locked,
    partial_folder,
    remove_spills,
    signed,
    write_array,
)
from kgroups.blocks.names import (
    CollisionError,
    Lookup,
    chunks,
    distinct_numbers,
    keys_of_texts,
    merged_texts,
    positions_of_ranks,
    spill_texts,
    text_order,
    write_texts,
)
from kgroups.blocks.sources import (
    Batch,
    NotWholeNumbersError,
    Source,
    asymmetric,
    errors_named,
    matrix_size,
    mixed_bits,
    open_sources,
    source_files,
    too_long,
)
from kgroups.blocks.store import (
    COLORS,
    STORE_VERSION,
    StoredGraph,
    is_store,
    memory_bytes,
)
from kgroups.errors import GraphError, InputError, StoreError, WeightError

_PIECES, _DEALT, _SUMS, _NAMES = "pieces", "dealt", "sums", "names"
_SPILLS = (_PIECES, _DEALT, _SUMS, _NAMES)
_MOST_SEEDS = 8
_UNIT_BITS = 61
# Bytes that numbering takes for each node, and a slot of a table of consecutive numbers.
_NODE_BYTES, _SLOT_BYTES = 40, 9
# What numba and pyarrow take once they are loaded and have compiled the kernels.
_LIBRARY_BYTES = 180_000_000
_LOWEST_EXPONENT = -1074


@dataclass(frozen=True)
class Sizes:
    """How much is held in memory at once.

    Attributes
    ----------
    piece_edges : int
        Edges that are read, translated and dealt at once, at about 100 bytes each.
    piece_texts : int
        Edges that are read at once if names are text, at about 400 bytes each.
    block_entries : int
        Entries of a block, which is sorted in memory, at 24 bytes each, or 48 with weights.
    most_slots : int
        Consecutive numbers up to which names are looked up in a table.
    """

    piece_edges: int
    piece_texts: int
    block_entries: int
    most_slots: int

    @classmethod
    def of(cls, memory: int, block_entries: int | None = None) -> "Sizes":
        """Return the sizes that fit into memory, beside the libraries that are loaded."""
        free = memory - _LIBRARY_BYTES
        entries = min(max(free // 64, 1 << 16), 1 << 24)
        return cls(
            piece_edges=min(max(free // 512, 1 << 16), 1 << 22),
            piece_texts=min(max(free // 2048, 1 << 14), 1 << 20),
            block_entries=entries if block_entries is None else block_entries,
            most_slots=free // (4 * _SLOT_BYTES),
        )


def open_graph(
    edges: Any = None,
    *,
    store: str | os.PathLike[str],
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    memory: str | int = "2GB",
    block_entries: int | None = None,
    progress: StageProgress = False,
) -> StoredGraph:
    """Open a graph that need not fit in memory, from a folder that is made of files with edges.

    The files are read once, in memory that is bounded. If the folder is there already, and made of
    the same files and options, it is opened at once.

    Parameters
    ----------
    edges : path, pattern or list of paths, optional
        Files with edges, all of one format: ``.parquet``, ``.npz``, ``.npy`` with a row per edge,
        or text, perhaps compressed (``.csv .tsv .txt .edges .edgelist`` and ``.gz .bz2 .xz
        .zst``). A pattern such as ``"edges/*.parquet"`` names several. Their content is as in
        :func:`kgroups.read_graph`. If not given, the store must be there.
    store : path
        The folder. While it is written, its name ends in ``.partial``.
    weight : str or None
        Column that holds the weights, as in :func:`kgroups.read_graph`.
    source, target : str, optional
        Columns that hold the ends of the edges, if these do not have usual names.
    memory : str or int
        Memory that may be used above what the process has taken before, such as ``"500MB"``,
        ``"1.5 GiB"`` or a number of bytes.
    block_entries : int, optional
        Entries of a block, if not to be derived from ``memory``.
    progress : bool or callable
        As in :func:`kgroups.detect_communities`.

    Returns
    -------
    StoredGraph
        The graph; nothing is loaded until it is used.

    Raises
    ------
    StoreError
        If the folder is damaged, holds anything else or another graph, or is being written by
        another process; also if the disk is full. Then, and after Ctrl-C, the same call goes on
        where it stopped.
    GraphError
        If the files do not hold a graph, as in :func:`kgroups.read_graph`.

    Notes
    -----
    Edges are undirected. Parallel edges are one edge with the sum of their weights, or their number
    without weights. Self-loops are kept apart, for scores. Nodes are numbered in the order of their
    names, so the order of the edges and their division into files change nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "edges.npy"), [[10, 20], [20, 30], [30, 10]])
    ...     stored = open_graph(Path(folder, "edges.npy"), store=Path(folder, "triangle"))
    ...     stored.n, stored.m, stored.nodes[0]
    (3, 3, 10)
    """
    budget = memory_bytes(memory)
    folder = Path(os.path.abspath(store))  # noqa: PTH100 (resolve follows links)
    if edges is None:
        return StoredGraph(folder, budget)
    options = ReadOptions(weight=weight, source=source, target=target)
    _check_block_entries(block_entries)
    files = source_files(edges)
    made_of = _made_of(files, options, block_entries)
    if is_store(folder):
        return _opened(folder, budget, made_of)
    _check_place(folder)
    partial = partial_folder(folder)
    with (
        full_disk_explained(folder.parent),
        locked(partial, folder),
        stage_progress(progress=progress) as announce,
        Stages(announce) as stages,
    ):
        if not is_store(folder):
            ingest = _Ingest(files, options, made_of, partial, budget)
            try:
                ingest.run(stages)
            except (GraphError, NotWholeNumbersError):
                # The sources must change first.
                empty_partial(partial)
                raise
            if folder.exists():
                folder.rmdir()
            partial.rename(folder)
    return _opened(folder, budget, made_of)


def _check_block_entries(block_entries: object) -> None:
    if block_entries is not None and (type(block_entries) is not int or block_entries < 1):
        msg = (
            f"{argument('block_entries')} must be a whole number >= 1 or None, got "
            f"{block_entries!r}.\n  Leave it out to derive it from {argument('memory')}."
        )
        raise InputError(msg)


def _made_of(
    files: Sequence[Path], options: ReadOptions, block_entries: int | None
) -> dict[str, Any]:
    """Return what makes a store: its sources, and the options that change it."""
    sources = []
    for path in files:
        stat = path.stat()
        sources.append([os.path.abspath(path), stat.st_size, stat.st_mtime_ns])  # noqa: PTH100
    return {
        "sources": sources,
        "options": {
            "weight": options.weight,
            "source": options.source,
            "target": options.target,
            "block_entries": block_entries,
        },
    }


def _opened(folder: Path, memory: int, made_of: dict[str, Any]) -> StoredGraph:
    """Open a store if it is made of these sources with these options."""
    stored = StoredGraph(folder, memory)
    difference = _difference(stored.made_of, made_of)
    if difference:
        msg = (
            f"the store {str(folder)!r} must be made of the same edges with the same options, but "
            f"{difference}.\n  Choose another folder, or delete this one; without edges, "
            f"open_graph(store={str(folder)!r}) opens it as it is."
        )
        raise StoreError(msg)
    return stored


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    for name, value in new["options"].items():
        if old["options"].get(name) != value:
            return f"it was made with {setting(name, old['options'].get(name))}, not {value!r}"
    before = {path: about for path, *about in old["sources"]}
    now = {path: about for path, *about in new["sources"]}
    for path in now:
        if path not in before:
            return f"it was made without {path!r}"
        if before[path] != now[path]:
            return f"{path!r} has changed since"
    missing = next((path for path in before if path not in now), None)
    return "" if missing is None else f"it was made of {missing!r}, too"


def _check_place(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        kind = "a folder with other files" if folder.is_dir() else "a file"
        msg = f"a store must be a new folder, got {kind}: {str(folder)!r}.\n  Choose another name."
        raise StoreError(msg)
    if not folder.parent.is_dir():
        msg = f"there is no folder {str(folder.parent)!r} to write the store into."
        raise StoreError(msg)
    partial = partial_folder(folder)
    if partial.exists() and not (partial.is_dir() and is_partial(partial)):
        msg = (
            f"a store is written as {str(partial)!r} first, but there are other files.\n"
            "  Rename these, or choose another name for the store."
        )
        raise StoreError(msg)


class Tally(NamedTuple):
    """What is known of weights: exact, and so the same for any order.

    ``total`` is their sum in units of 2**-1074; 2**``lowest`` divides all of them.
    """

    total: int = 0
    lowest: int | None = None
    smallest: float = math.inf
    largest: float = 0.0

    @classmethod
    def of(cls, weights: Floats) -> "Tally":
        """Return the tally of some weights."""
        low, high = float(weights.min(initial=math.inf)), float(weights.max(initial=0.0))
        positive = weights[weights > 0]
        if not positive.size:
            return cls(0, None, low, high)
        fraction, exponent = np.frexp(positive)
        mantissa = np.ldexp(fraction, 53).astype(np.int64)
        exponent = exponent.astype(np.int64) - 53
        base = int(exponent.min())
        # Halves of mantissas have sums below 2**53, which are exact.
        total = 0
        for part, shift in ((mantissa >> 27, 27), (mantissa & ((1 << 27) - 1), 0)):
            sums = np.bincount(exponent - base, weights=part)
            for place in np.flatnonzero(sums).tolist():
                moved = base + place + shift - _LOWEST_EXPONENT
                value = int(sums[place])
                total += value << moved if moved >= 0 else value >> -moved
        last = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
        return cls(total, int((exponent + last).min()), low, high)

    def __or__(self, other: "Tally") -> "Tally":
        lowest = [each for each in (self.lowest, other.lowest) if each is not None]
        return Tally(
            self.total + other.total,
            min(lowest, default=None),
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
        )

    @property
    def all_ones(self) -> bool:
        """Whether each weight is 1."""
        return self.smallest == self.largest == 1.0

    def exponent(self, count: int) -> int:
        """Return the exponent of the unit in which ``count`` edges are added exactly.

        All weights are multiples of it if that is possible, and else it is so small that the sum of
        all entries is below 2**61 units.
        """
        if self.lowest is None:
            return 0
        # Each edge is two entries.
        finest = (2 * self.total + 1).bit_length() + _LOWEST_EXPONENT - _UNIT_BITS + 1
        if self.lowest >= finest:
            return self.lowest
        # Rounding may add a unit per entry.
        while ((2 * self.total) >> (finest - _LOWEST_EXPONENT)) + 2 * count >= 1 << _UNIT_BITS:
            finest += 1
        return finest

    @classmethod
    def restored(cls, values: Sequence[Any]) -> "Tally":
        """Return the tally of a record in the journal."""
        return cls(int(values[0], 16), values[1], *map(float, values[2:]))

    def record(self) -> list[Any]:
        """Return it as JSON can keep it."""
        return [hex(self.total), self.lowest, str(self.smallest), str(self.largest)]


class _Piece(NamedTuple):
    """Edges as they are spilled."""

    u: Indices
    v: Indices
    weights: Floats | None


class _Slice(NamedTuple):
    """The first and last entry of a block in a dealt file, all its entries, and their offset."""

    first: int
    stop: int
    entries: int
    begin: int


class _Ingest:
    """The stages of making a store in a partial folder."""

    def __init__(
        self,
        files: Sequence[Path],
        options: ReadOptions,
        made_of: dict[str, Any],
        folder: Path,
        memory: int,
    ) -> None:
        self.files, self.options, self.made_of = files, options, made_of
        self.folder, self.memory = folder, memory
        self.sizes = Sizes.of(memory, made_of["options"]["block_entries"])
        self.journal = Journal(folder)

    def run(self, stages: Stages) -> None:
        """Do what is left to do."""
        if (self.folder / "store.json").exists():
            if StoredGraph(self.folder, self.memory).made_of == self.made_of:
                remove_spills(self.folder, _SPILLS)
                return
            empty_partial(self.folder)
        stages.begin("reading edges")
        begun = self.journal.last("begin")
        if begun is None or begun["made_of"] != self.made_of:
            self._begin()
        self._read()
        stages.begin("sorting names")
        self._number()
        stages.begin("dealing edges")
        self._translate()
        self._deal()
        stages.begin("writing blocks")
        self._build()
        self._finish()

    def _begin(self, *, text: bool | None = None, seed: int = 0) -> None:
        """Begin anew; ``text`` is None if the sources tell whether names are text."""
        empty_partial(self.folder)
        self.journal = Journal(self.folder)
        self.journal.add(step="begin", made_of=self.made_of, text=text, seed=seed)

    # --- Stage 1

    def _read(self) -> None:
        if self.journal.last("read") is not None:
            return
        sources = open_sources(self.files, self.options)
        while True:
            begun = self._step("begin")
            text = begun["text"]
            if text is None:
                text = bool(sources) and sources[0].names == "text"
            try:
                self._write_pieces(sources, begun["seed"], text=text)
                break
            except NotWholeNumbersError:
                self._begin(text=True)
            except CollisionError:
                self._next_seed()
        pieces = self.journal.all("piece")
        may_be_whole = text and bool(pieces) and sources[0].names == "either"
        if may_be_whole and all(piece["plain"] for piece in pieces):
            raise too_long()
        if sum(piece["balance"] for piece in pieces) % 2**64:
            with errors_named(self.files[0].name):
                raise asymmetric()
        self.journal.add(
            step="read",
            text=text,
            seed=begun["seed"],
            weighted=bool(sources) and sources[0].weighted,
            n=matrix_size(sources),
        )

    def _next_seed(self) -> None:
        begun = self._step("begin")
        if begun["seed"] + 1 == _MOST_SEEDS:
            msg = (
                f"node names must have different hashes, but two have the same for each of "
                f"{_MOST_SEEDS} seeds.\n  Use whole numbers as names."
            )
            raise GraphError(msg)
        self._begin(text=begun["text"], seed=begun["seed"] + 1)

    def _write_pieces(self, sources: Sequence[Source], seed: int, *, text: bool) -> None:
        done = self.journal.all("piece")
        file, rows = done[-1]["until"] if done else (0, 0)
        number = len(done)
        for place, group in self._groups(sources, file, rows, text=text):
            u, v = (_joined([getattr(one, end) for one in group]) for end in "uv")
            if text:
                u, v, table = keys_of_texts(u, v, seed)
                spill_texts(self.folder, number, table)
            weights = None
            if group[0].weights is not None:
                weights = np.concatenate([one.weights for one in group])
            low, high = (
                (int(f(getattr(u, f.__name__)(), getattr(v, f.__name__)())) for f in (min, max))
                if u.size
                else (0, -1)
            )
            kind = np.int32 if low >= -(2**31) and high < 2**31 else np.int64
            name = f"{_PIECES}/{number:05d}.keys"
            self._write_piece(name, u.astype(kind), v.astype(kind), weights)
            self.journal.add(
                step="piece",
                until=[place, group[-1].rows],
                edges=int(u.size),
                kind=np.dtype(kind).name,
                low=low,
                high=high,
                loops=int(np.count_nonzero(u == v)),
                tally=(Tally() if weights is None else Tally.of(weights)).record(),
                plain=all(one.plain for one in group),
                balance=sum(one.balance for one in group),
            )
            number += 1

    def _groups(
        self, sources: Sequence[Source], file: int, rows: int, *, text: bool
    ) -> Iterator[tuple[int, list[Batch]]]:
        """Yield batches that make a piece together, and the number of the file of the last one."""
        most = self.sizes.piece_texts if text else self.sizes.piece_edges
        group: list[Batch] = []
        size, place = 0, file
        for place in range(file, len(sources)):
            skipped = rows if place == file else 0
            for batch in sources[place].batches(most, skipped, text=text):
                group.append(batch)
                size += len(batch.u)
                if size >= most:
                    yield place, group
                    group, size = [], 0
                tell_share(place + batch.share, len(sources))
        if group:
            yield place, group

    def _write_piece(self, name: str, u: Indices, v: Indices, weights: Floats | None) -> None:
        with Output(self.folder, name) as out:
            for part in (u, v, weights):
                if part is not None:
                    out.write(np.ascontiguousarray(part))

    def _piece(self, name: str, record: dict[str, Any], kind: Any) -> _Piece:
        """Return a piece as it was written."""
        count, weighted = record["edges"], self._step("read")["weighted"]
        with (self.folder / name).open("rb") as file:
            u, v = (np.fromfile(file, kind, count) for _ in range(2))
            weights = np.fromfile(file, np.float64, count) if weighted else None
        if v.size < count or (weights is not None and weights.size < count):
            raise self._broken()
        return _Piece(u, v, weights)

    def _broken(self) -> StoreError:
        return StoreError(
            f"the files of {str(self.folder)!r} must be as they were written, but one has been "
            "changed.\n  Delete this folder, and make the store again."
        )

    def _step(self, step: str) -> dict[str, Any]:
        record = self.journal.last(step)
        if record is None:
            raise self._broken()
        return record

    # --- Stage 2

    @cached_property
    def _pieces(self) -> list[dict[str, Any]]:
        return self.journal.all("piece")

    def _number(self) -> None:
        """Give the nodes numbers, and write their names and positions."""
        if self.journal.last("named") is not None:
            return
        read = self._step("read")
        if read["text"]:
            try:
                keys, texts = merged_texts(
                    self.folder, len(self._pieces), read["seed"],
                    lambda part: tell_share(part, 64),
                )  # fmt: skip
            except CollisionError:
                self._next_seed()
                self.__dict__.pop("_pieces", None)
                self._read()
                self._number()
                return
            n = keys.size
            self._check_nodes(n)
            order = text_order(texts)
            rank = np.empty(n, np.int64)
            rank[order] = np.arange(n)
            names = write_texts(self.folder, "names.arrow", texts.take(order))
            del texts, order
            spilled_keys = write_array(self.folder, f"{_SUMS}/keys.npy", keys)
            spilled_ranks = write_array(
                self.folder, f"{_SUMS}/ranks.npy", rank.astype(index_type(n))
            )
            extra = [spilled_keys, spilled_ranks]
        else:
            if read["n"] is not None:
                numbers = np.arange(read["n"])
            elif self._pieces:
                low = min(piece["low"] for piece in self._pieces)
                high = max(piece["high"] for piece in self._pieces)
                numbers = distinct_numbers(
                    self._key_arrays(), low, high, most_slots=self.sizes.most_slots
                )
            else:
                numbers = np.empty(0, np.int64)
            n = numbers.size
            self._check_nodes(n)
            names = write_array(self.folder, "names.npy", numbers)
            extra = []
        colors = [
            (mixed_bits(np.arange(part.start, part.stop)) % np.uint64(COLORS)).astype(np.uint8)
            for part in chunks(n, 1 << 20)
        ]
        position, bounds = positions_of_ranks(colors, n, index_type(n))
        written = write_array(self.folder, "position.npy", position)
        self.journal.add(
            step="named", n=int(n), names=names, position=written, colors=bounds, extra=extra
        )
        shutil.rmtree(self.folder / _NAMES, ignore_errors=True)

    def _check_nodes(self, n: int) -> None:
        least = n * _NODE_BYTES + _LIBRARY_BYTES
        if least > self.memory:
            msg = (
                f"{argument('memory')} must be at least {least:,} bytes for {n:,} nodes, got "
                f"{self.memory:,}.\n  Pass for instance "
                f"{setting('memory', f'{math.ceil(3 * least / 1e9)}GB')}: the same call goes on "
                "where it stopped."
            )
            raise StoreError(msg)

    def _key_arrays(self) -> Iterator[Indices]:
        for number, record in enumerate(self._pieces):
            piece = self._piece(f"{_PIECES}/{number:05d}.keys", record, record["kind"])
            yield piece.u
            yield piece.v
            tell_share(number, len(self._pieces))

    # --- Stage 3

    def _translate(self) -> None:
        """Replace the keys of each piece by positions, count entries, and divide rows in blocks."""
        if self.journal.last("divided") is not None:
            return
        named = self._step("named")
        n = named["n"]
        kind = index_type(n)
        done = {record["number"] for record in self.journal.all("translated")}
        lookup = None
        entries = np.zeros(n, np.int64)
        for number, record in enumerate(self._pieces):
            keys, name = f"{_PIECES}/{number:05d}.keys", f"{_PIECES}/{number:05d}.positions"
            if number in done:
                (self.folder / keys).unlink(missing_ok=True)
                piece = self._piece(name, record, kind)
            else:
                if lookup is None:
                    lookup = self._lookup()
                given = self._piece(keys, record, record["kind"])
                piece = _Piece(lookup(given.u), lookup(given.v), given.weights)
                self._write_piece(name, *piece)
                self.journal.add(step="translated", number=number)
                (self.folder / keys).unlink()
            no_loop = piece.u != piece.v
            for end in piece[:2]:
                np.add.at(entries, end[no_loop], 1)
            tell_share(0.5 * number, len(self._pieces))
        firsts = _divided(entries, named["colors"], self.sizes.block_entries)
        self.journal.add(step="divided", firsts=firsts)

    def _lookup(self) -> Lookup:
        named = self._step("named")
        position = np.load(self.folder / "position.npy")
        if named["extra"]:
            keys = np.load(self.folder / _SUMS / "keys.npy")
            values = position[np.load(self.folder / _SUMS / "ranks.npy")]
        else:
            keys, values = np.load(self.folder / "names.npy"), position
        return Lookup.of(keys, values, most_slots=self.sizes.most_slots)

    def _deal(self) -> None:
        """Write both directions of the edges of each piece, sorted by the block of their row."""
        done = {record["number"] for record in self.journal.all("dealt")}
        named, firsts = self._step("named"), self._firsts
        n = named["n"]
        block_of = np.repeat(np.arange(firsts.size - 1, dtype=np.int32), np.diff(firsts))
        for number, record in enumerate(self._pieces):
            name = f"{_PIECES}/{number:05d}.positions"
            if number not in done:
                piece = self._piece(name, record, index_type(n))
                self._deal_piece(number, piece, block_of)
                self.journal.add(step="dealt", number=number)
            (self.folder / name).unlink(missing_ok=True)
            tell_share(len(self._pieces) + number, 2 * len(self._pieces))

    @cached_property
    def _firsts(self) -> Ints:
        """The first position of each block, and the number of nodes."""
        return np.array(self._step("divided")["firsts"], np.int64)

    @cached_property
    def _shift(self) -> int:
        """The bits of a column in a key."""
        bits = int(self._step("named")["n"]).bit_length()
        longest = int(np.diff(self._firsts).max(initial=0)).bit_length()
        if bits + longest > 62:
            msg = "a store must have fewer nodes.\n  Pass a smaller block_entries."
            raise StoreError(msg)
        return bits

    @cached_property
    def _tally(self) -> Tally:
        tally = Tally()
        for record in self._pieces:
            tally |= Tally.restored(record["tally"])
        # Scores count self-loops twice.
        if 2 * tally.total >= 1 << (1024 - _LOWEST_EXPONENT):
            msg = (
                "the sum of the edge weights must be finite, but it overflows.\n"
                "  Divide all weights by a large number: communities do not change."
            )
            raise WeightError(msg)
        return tally

    @cached_property
    def _weighted(self) -> bool:
        """Whether some edge has a weight other than 1."""
        return bool(self._step("read")["weighted"]) and not self._tally.all_ones

    @cached_property
    def _exponent(self) -> int:
        edges = sum(record["edges"] for record in self._pieces)
        return self._tally.exponent(edges) if self._weighted else 0

    def _deal_piece(self, number: int, piece: _Piece, block_of: Indices) -> None:
        u, v = (end.astype(np.int64, copy=False) for end in piece[:2])
        units = np.empty(0, np.int64)
        if self._weighted and piece.weights is not None:
            units = np.rint(np.ldexp(piece.weights, -self._exponent)).astype(np.int64)
            np.maximum(units, piece.weights > 0, out=units)
        is_loop = u == v
        loops = u[is_loop]
        loop_units = units[is_loop] if units.size else np.ones(loops.size, np.int64)
        blocks = self._firsts.size - 1
        counts = np.zeros(blocks, np.int64)
        for end in (u, v):
            counts += np.bincount(block_of[end[~is_loop]], minlength=blocks)
        start = np.zeros(blocks + 1, np.int64)
        np.cumsum(counts, out=start[1:])
        keys = np.empty(start[-1], np.int64)
        dealt = np.empty(keys.size if units.size else 0, np.int64)
        deal_edges(u, v, units, block_of, self._firsts, start[:-1].copy(), self._shift, keys, dealt)
        with Output(self.folder, f"{_DEALT}/{number:05d}") as out:
            for part in (np.array([loops.size]), start, keys, dealt, loops, loop_units):
                out.write(part)

    # --- Stage 4

    def _slice(self, number: int, b: int) -> _Slice:
        """Return where the entries of a block are in a dealt file."""
        blocks = self._firsts.size - 1
        with (self.folder / _DEALT / f"{number:05d}").open("rb") as file:
            start = np.fromfile(file, np.int64, blocks + 2)[1:]
        if start.size < blocks + 1:
            raise self._broken()
        return _Slice(int(start[b]), int(start[b + 1]), int(start[-1]), 8 * (blocks + 2))

    def _build(self) -> None:
        done = {record["number"] for record in self.journal.all("block")}
        blocks = self._firsts.size - 1
        for b in range(blocks):
            if b not in done:
                self._build_block(b)
            tell_share(b + 1, blocks)

    def _build_block(self, b: int) -> None:
        slices = [self._slice(number, b) for number in range(len(self._pieces))]
        total = sum(one.stop - one.first for one in slices)
        keys = np.empty(total, np.int64)
        units = np.empty(total if self._weighted else 0, np.int64)
        filled = 0
        for number, (first, stop, entries, begin) in enumerate(slices):
            part = slice(filled, filled + stop - first)
            with (self.folder / _DEALT / f"{number:05d}").open("rb") as file:
                file.seek(begin + 8 * first)
                read = file.readinto(keys[part].data.cast("B"))
                if self._weighted:
                    file.seek(begin + 8 * (entries + first))
                    read += file.readinto(units[part].data.cast("B"))
            if read != keys[part].nbytes + units[part].nbytes:
                raise self._broken()
            filled = part.stop
        if self._weighted:
            order = np.argsort(keys)
            keys, units = keys[order], units[order]
            del order
        else:
            keys.sort()
        self._write_block(b, keys, units)

    def _write_block(self, b: int, keys: Ints, units: Ints) -> None:
        rows = int(self._firsts[b + 1] - self._firsts[b])
        distinct = int(np.count_nonzero(keys[1:] != keys[:-1])) + (keys.size > 0)
        summed = self._weighted or distinct < keys.size
        indices = np.empty(distinct, index_type(self._step("named")["n"]))
        sums = np.empty(distinct if summed else 0, np.int64)
        lengths = np.zeros(rows, np.int64)
        merge_entries(keys, units, self._shift, lengths, indices, sums)
        del keys, units
        if self._collapsed:
            sums = sums[:0]
        indptr = np.zeros(rows + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        common: int | None = 1
        if sums.size:
            low, high = int(sums.min()), int(sums.max())
            common = low if low == high else None
        name = f"blocks/{b:05d}"
        files = {
            "indptr": write_array(self.folder, f"{name}.indptr.npy", indptr),
            "indices": write_array(self.folder, f"{name}.indices.npy", indices),
        }
        strengths = lengths if common is None else lengths * common
        if common is None:
            files["weights"] = write_array(self.folder, f"{name}.weights.npy", sums)
            ends = np.zeros(distinct + 1, np.int64)
            np.cumsum(sums, out=ends[1:])
            strengths = ends[indptr[1:]] - ends[indptr[:-1]]
        write_array(self.folder, f"{_SUMS}/{b:05d}.npy", strengths)
        self.journal.add(
            step="block",
            number=b,
            entries=distinct,
            common=common if distinct else 0,
            files=files,
        )

    @cached_property
    def _collapsed(self) -> bool:
        """Whether repeated entries count once, as in a matrix without weights."""
        read = self._step("read")
        return read["n"] is not None and not read["weighted"]

    # --- The end

    def _finish(self) -> None:
        read, named, firsts = self._step("read"), self._step("named"), self._firsts
        records = {record["number"]: record for record in self.journal.all("block")}
        blocks = [records[b] for b in range(firsts.size - 1)]
        shared = {block["common"] for block in blocks if block["entries"]}
        common = next(iter(shared)) if len(shared) == 1 else None
        # Where all weights are 0, no weights would mean something else.
        weighted = len(shared) > 1 or (bool(shared) and common in (None, 0))
        strength = np.empty(named["n"], np.int64)
        for b, block in enumerate(blocks):
            part = np.load(self.folder / _SUMS / f"{b:05d}.npy")
            strength[firsts[b] : firsts[b + 1]] = part
            if weighted and "weights" not in block["files"]:
                block["files"]["weights"] = write_array(
                    self.folder,
                    f"blocks/{b:05d}.weights.npy",
                    np.full(block["entries"], block["common"], np.int64),
                )
        if not weighted and common is not None:
            strength //= common
        loops = self._loops()
        entries = sum(block["entries"] for block in blocks)
        n_loops = sum(record["loops"] for record in self._pieces)
        m = sum(record["edges"] for record in self._pieces)
        if read["n"] is not None:
            # Repeated entries of a matrix are no parallel edges.
            n_loops = loops.shape[1]
            m = entries // 2 + n_loops
        unit = 2.0**self._exponent
        files = {
            "names": FileInfo(*named["names"]),
            "position": FileInfo(*named["position"]),
            "strength": write_array(self.folder, "strength.npy", strength),
            "loops": write_array(self.folder, "loops.npy", loops),
        }
        colors = named["colors"]
        record = {
            "format": "kgroups store",
            "version": STORE_VERSION,
            "n": named["n"],
            "m": m,
            "entries": entries,
            "n_loops": n_loops,
            "text_names": read["text"],
            "weighted": weighted,
            "counted": not self._weighted and read["n"] is None,
            "unit": unit,
            "common_weight": unit * common if common is not None and not weighted else 1.0,
            "colors": colors,
            "blocks": [
                {
                    "first": int(firsts[b]),
                    "last": int(firsts[b + 1]),
                    "entries": block["entries"],
                    "color": int(np.searchsorted(colors, firsts[b], side="right")) - 1,
                    "files": block["files"],
                }
                for b, block in enumerate(blocks)
            ],
            "files": files,
            "made_of": self.made_of,
        }
        with Output(self.folder, "store.json") as out:
            out.write(signed(record))
        remove_spills(self.folder, _SPILLS)

    def _loops(self) -> Ints:
        """Return the positions of self-loops and the sums of their units, in two rows."""
        places, units = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number in range(len(self._pieces)):
            with (self.folder / _DEALT / f"{number:05d}").open("rb") as file:
                count = int(np.fromfile(file, np.int64, 1)[0])
                file.seek(-16 * count, os.SEEK_END)
                places.append(np.fromfile(file, np.int64, count))
                units.append(np.fromfile(file, np.int64, count))
        place, entry = np.unique(np.concatenate(places), return_inverse=True)
        sums = np.zeros(place.size, np.int64)
        np.add.at(sums, entry, np.concatenate(units))
        if self._collapsed:
            sums[:] = 1
        return np.stack([place, sums])


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pyarrow

    return pyarrow.concat_arrays(parts)


def _divided(entries: Ints, colors: Sequence[int], most: int) -> list[int]:
    """Return the first row of each block, and the number of rows.

    A block is a range of rows of one color with at most this many entries, or one row.
    """
    ends = np.zeros(entries.size + 1, np.int64)
    np.cumsum(entries, out=ends[1:])
    firsts = []
    for first, stop in pairwise(colors):
        while first < stop:
            firsts.append(first)
            last = int(np.searchsorted(ends, ends[first] + most, side="right")) - 1
            first = min(max(last, first + 1), stop)
    return [*firsts, entries.size]
