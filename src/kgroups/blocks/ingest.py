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
from kgroups._progress import Stages, tell_share
from kgroups._types import Floats, Indices, Ints
from kgroups._wording import argument, setting
from kgroups.adapters.edges import ReadOptions, weights_sentence
from kgroups.blocks._store_nb import deal_edges, merge_entries
from kgroups.blocks.folder import (
    FileInfo,
    Journal,
    Output,
    checksum_of,
    empty_partial,
    remove_spills,
    signed,
    write_array,
)
from kgroups.blocks.names import (
    PARTITIONS,
    SPILLED_NAMES,
    CollisionError,
    Lookup,
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
    open_sources,
    too_long,
)
from kgroups.blocks.store import STORE_VERSION, StoredGraph
from kgroups.blocks.weights import Tally, units_of
from kgroups.errors import FileFormatError, GraphError, StoreError

_PIECES, _DEALT, _SUMS, _NAMES = "pieces", "dealt", "sums", SPILLED_NAMES
_SPILLS = (_PIECES, _DEALT, _SUMS, _NAMES)
# The keys of texts in ascending order, and their ranks.
_KEYS, _RANKS = f"{_SUMS}/keys.npy", f"{_SUMS}/ranks.npy"
_MOST_SEEDS = 8
# Bytes that numbering takes for each node, and a slot of a table of consecutive numbers.
_NODE_BYTES, _SLOT_BYTES = 40, 9
# What numba and pyarrow take once they are loaded and have compiled the kernels.
_LIBRARY_BYTES = 210_000_000


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


@dataclass(frozen=True)
class Request:
    """What a store is to be made of, and how."""

    files: Sequence[Path]
    options: ReadOptions
    block_entries: int | None = None

    def made_of(self) -> dict[str, Any]:
        """Return the sources as they are now, and the options that change a store."""
        sources = []
        for path in self.files:
            stat = path.stat()
            sources.append([os.path.abspath(path), stat.st_size, stat.st_mtime_ns])  # noqa: PTH100
        options = self.options
        return {
            "sources": sources,
            "options": {
                "weight": options.weight,
                "source": options.source,
                "target": options.target,
                "block_entries": self.block_entries,
            },
        }


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


class Ingest:
    """The stages of making a store in a partial folder."""

    def __init__(self, request: Request, folder: Path, memory: int) -> None:
        self.request, self.made_of = request, request.made_of()
        self.folder, self.memory = folder, memory
        self.sizes = Sizes.of(memory, request.block_entries)
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
        if begun is None or begun["made_of"] != self.made_of or not self._is_intact():
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

    def _is_intact(self) -> bool:
        """Return whether the files that were written before an interruption are unchanged."""
        needed: dict[str, FileInfo] = {}
        for record in self.journal.records:
            for info in record.get("files", ()):
                needed[info[0]] = FileInfo(*info)
            for name in record.get("without", ()):
                needed.pop(name, None)
        paths = {self.folder / info.name: info for info in needed.values()}
        return all(
            path.exists()
            and path.stat().st_size == info.size
            and checksum_of(path) == info.checksum
            for path, info in paths.items()
        )

    # --- Stage 1

    def _read(self) -> None:
        if self.journal.last("read") is not None:
            return
        sources = open_sources(self.request.files, self.request.options)
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
        if self.request.made_of() != self.made_of:
            msg = "the files with edges must not change while they are read.\n  Try again."
            raise FileFormatError(msg)
        pieces = self.journal.all("piece")
        may_be_whole = text and bool(pieces) and sources[0].names == "either"
        if may_be_whole and all(piece["plain"] for piece in pieces):
            raise too_long()
        if sum(piece["balance"] for piece in pieces) % 2**64:
            with errors_named(self.request.files[0].name):
                raise asymmetric()
        self.journal.add(
            step="read",
            text=text,
            seed=begun["seed"],
            weighted=bool(sources) and sources[0].weighted,
            n=matrix_size(sources),
            column=sources[0].column if sources else None,
            unused=list(sources[0].unused) if sources else [],
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
            files = []
            if text:
                u, v, table = keys_of_texts(u, v, seed)
                files.append(spill_texts(self.folder, number, table))
            weights = None
            if group[0].weights is not None:
                weights = np.concatenate([one.weights for one in group])
            low, high = 0, -1
            if u.size:
                low, high = int(min(u.min(), v.min())), int(max(u.max(), v.max()))
            kind = np.int32 if low >= -(2**31) and high < 2**31 else np.int64
            files.append(self._write_piece(_keys(number), u.astype(kind), v.astype(kind), weights))
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
                files=files,
            )
            number += 1

    def _groups(
        self, sources: Sequence[Source], file: int, rows: int, *, text: bool
    ) -> Iterator[tuple[int, list[Batch]]]:
        """Yield batches that make a piece together, and the number of the file of the last one."""
        most = self.sizes.piece_texts if text else self.sizes.piece_edges
        group: list[Batch] = []
        size, last = 0, file
        for place in range(file, len(sources)):
            skipped = rows if place == file else 0
            for batch in sources[place].batches(most, skipped, text=text):
                group.append(batch)
                size, last = size + len(batch.u), place
                if size >= most:
                    yield last, group
                    group, size = [], 0
                tell_share(place + batch.share, len(sources))
        if group:
            yield last, group

    def _write_piece(self, name: str, u: Indices, v: Indices, weights: Floats | None) -> FileInfo:
        with Output(self.folder, name) as out:
            for part in (u, v, weights):
                if part is not None:
                    out.write(np.ascontiguousarray(part))
        return out.info

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
            "changed.\n  Call open_graph again: it writes them anew."
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
        if self._step("read")["text"]:
            try:
                n, files = self._number_texts()
            except CollisionError:
                self._next_seed()
                del self._pieces
                self._read()
                self._number()
                return
        else:
            n, files = self._number_integers()
        position, bounds = positions_of_ranks(n)
        files.append(write_array(self.folder, "position.npy", position))
        spilled = [piece["files"][0][0] for piece in self._pieces if len(piece["files"]) > 1]
        self.journal.add(step="named", n=n, colors=bounds, files=files, without=spilled)
        shutil.rmtree(self.folder / _NAMES, ignore_errors=True)

    def _number_texts(self) -> tuple[int, list[FileInfo]]:
        """Write names that are text, in sorted order; and their keys, with the rank of each."""
        pieces, seed = len(self._pieces), self._step("read")["seed"]
        keys, texts = merged_texts(
            self.folder, pieces, seed, lambda part: tell_share(part, PARTITIONS)
        )
        n = int(keys.size)
        self._check_nodes(n)
        order = text_order(texts)
        rank = np.empty(n, index_type(n))
        rank[order] = np.arange(n)
        return n, [
            write_texts(self.folder, "names.arrow", texts.take(order)),
            write_array(self.folder, _KEYS, keys),
            write_array(self.folder, _RANKS, rank),
        ]

    def _number_integers(self) -> tuple[int, list[FileInfo]]:
        """Write names that are whole numbers, in sorted order."""
        given = self._step("read")["n"]
        pieces = [piece for piece in self._pieces if piece["edges"]]
        numbers = np.arange(given or 0)
        if given is None and pieces:
            low = min(piece["low"] for piece in pieces)
            high = max(piece["high"] for piece in pieces)
            most = self.sizes.most_slots
            numbers = distinct_numbers(self._key_arrays(), low, high, most_slots=most)
        self._check_nodes(numbers.size)
        return int(numbers.size), [write_array(self.folder, "names.npy", numbers)]

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
            yield from self._piece(_keys(number), record, record["kind"])[:2]
            tell_share(number, len(self._pieces))

    # --- Stage 3

    def _translate(self) -> None:
        """Replace the keys of each piece by positions, count entries, and divide rows in blocks."""
        if self.journal.last("divided") is not None:
            return
        named = self._step("named")
        n = named["n"]
        done = {record["number"] for record in self.journal.all("translated")}
        lookup = None
        entries = np.zeros(n, np.int64)
        for number, record in enumerate(self._pieces):
            if number in done:
                piece = self._piece(_positions(number), record, index_type(n))
            else:
                lookup = self._lookup() if lookup is None else lookup
                given = self._piece(_keys(number), record, record["kind"])
                piece = _Piece(lookup(given.u), lookup(given.v), given.weights)
                written = self._write_piece(_positions(number), *piece)
                self.journal.add(
                    step="translated", number=number, files=[written], without=[_keys(number)]
                )
            (self.folder / _keys(number)).unlink(missing_ok=True)
            no_loop = piece.u != piece.v
            for end in piece[:2]:
                np.add.at(entries, end[no_loop], 1)
            tell_share(0.5 * number, len(self._pieces))
        firsts = _divided(entries, named["colors"], self.sizes.block_entries)
        self.journal.add(step="divided", firsts=firsts)

    def _lookup(self) -> Lookup:
        position, most = np.load(self.folder / "position.npy"), self.sizes.most_slots
        if self._step("read")["text"]:
            keys, ranks = np.load(self.folder / _KEYS), np.load(self.folder / _RANKS)
            return Lookup.of(keys, position[ranks], most_slots=most)
        return Lookup.of(np.load(self.folder / "names.npy"), position, most_slots=most)

    def _deal(self) -> None:
        """Write both directions of the edges of each piece, sorted by the block of their row."""
        done = {record["number"] for record in self.journal.all("dealt")}
        named, firsts = self._step("named"), self._firsts
        n = named["n"]
        block_of = np.repeat(np.arange(firsts.size - 1, dtype=np.int32), np.diff(firsts))
        for number, record in enumerate(self._pieces):
            if number not in done:
                piece = self._piece(_positions(number), record, index_type(n))
                written = self._deal_piece(number, piece, block_of)
                self.journal.add(
                    step="dealt", number=number, files=[written], without=[_positions(number)]
                )
            (self.folder / _positions(number)).unlink(missing_ok=True)
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
        tally.check()
        return tally

    @cached_property
    def _weighted(self) -> bool:
        """Whether some edge has a weight other than 1."""
        return bool(self._step("read")["weighted"]) and not self._tally.all_ones

    @cached_property
    def _exponent(self) -> int:
        edges = sum(record["edges"] for record in self._pieces)
        return self._tally.exponent(edges) if self._weighted else 0

    def _deal_piece(self, number: int, piece: _Piece, block_of: Indices) -> FileInfo:
        u, v = (end.astype(np.int64, copy=False) for end in piece[:2])
        units = np.empty(0, np.int64)
        if self._weighted and piece.weights is not None:
            units = units_of(piece.weights, self._exponent)
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
        with Output(self.folder, _dealt(number)) as out:
            for part in (np.array([loops.size]), start, keys, dealt, loops, loop_units):
                out.write(part)
        return out.info

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
        low, high = (int(sums.min()), int(sums.max())) if sums.size else (1, 1)
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
        summed_rows = write_array(self.folder, _sums(b), strengths)
        self.journal.add(
            step="block",
            number=b,
            entries=distinct,
            extremes=[low, high],
            arrays=files,
            files=[*files.values(), summed_rows],
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
        extremes = [units for block in blocks if block["entries"] for units in block["extremes"]]
        common = min(extremes, default=1)
        # Where all weights are 0, no weights would mean something else.
        weighted = max(extremes, default=1) != common or common == 0
        strength = np.empty(named["n"], np.int64)
        for b, block in enumerate(blocks):
            part = np.load(self.folder / _sums(b))
            strength[firsts[b] : firsts[b + 1]] = part
            if weighted and "weights" not in block["arrays"]:
                block["arrays"]["weights"] = write_array(
                    self.folder,
                    f"blocks/{b:05d}.weights.npy",
                    np.full(block["entries"], block["extremes"][0], np.int64),
                )
        if not weighted:
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
            "names": named["files"][0],
            "position": named["files"][-1],
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
            "common_weight": 1.0 if weighted else unit * common,
            "about_weights": self._about_weights(extremes, loops, m, entries),
            "colors": colors,
            "blocks": [
                {
                    "first": int(firsts[b]),
                    "last": int(firsts[b + 1]),
                    "entries": block["entries"],
                    "color": int(np.searchsorted(colors, firsts[b], side="right")) - 1,
                    "files": block["arrays"],
                }
                for b, block in enumerate(blocks)
            ],
            "files": files,
            "made_of": self.made_of,
        }
        with Output(self.folder, "store.json") as out:
            out.write(signed(record))
        remove_spills(self.folder, _SPILLS)

    def _about_weights(self, extremes: list[int], loops: Ints, m: int, entries: int) -> str:
        """Return a sentence on the weights, or nothing for a matrix, which has no columns."""
        read = self._step("read")
        if read["n"] is not None:
            return ""
        unit, units = 2.0**self._exponent, [*extremes, *loops[1].tolist()]
        return weights_sentence(
            read["column"],
            read["unused"],
            self.request.options,
            (unit * min(units), unit * max(units)) if units else None,
            summed=m > entries // 2 + loops.shape[1],
        )

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


def _keys(number: int) -> str:
    """Return where a piece is, with a key for each name."""
    return f"{_PIECES}/{number:05d}.keys"


def _positions(number: int) -> str:
    """Return where a piece is, with a position for each name."""
    return f"{_PIECES}/{number:05d}.positions"


def _dealt(number: int) -> str:
    """Return where the entries of a piece are, sorted by block."""
    return f"{_DEALT}/{number:05d}"


def _sums(b: int) -> str:
    """Return where the sums of the rows of a block are."""
    return f"{_SUMS}/{b:05d}.npy"


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
