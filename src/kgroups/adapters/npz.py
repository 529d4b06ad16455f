"""NumPy archives to ``Graph``; arrays of edges come in batches, and nothing is unpickled."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from kgroups.adapters.arrays import (
    as_column,
    check_lengths,
    from_edge_arrays,
    from_stream,
)
from kgroups.adapters.columns import edge_columns
from kgroups.adapters.matrix import from_own_csr, from_sparse
from kgroups.adapters.numbering import Texts
from kgroups.adapters.streams import BATCH, Batch, graph_of_integers, graph_of_texts
from kgroups.adapters.text import ReadOptions, check_claim, format_error, parsing
from kgroups.adapters.weights import fractional_names, weights_of_rows
from kgroups.graph import Graph

__all__ = ["read_npz"]

_INDEX_ARRAYS = ("row", "col", "indices", "indptr", "offsets", "shape")
_MATRIX_ARRAYS = (*_INDEX_ARRAYS, "data", "format")
_UTF_32 = f"utf-32-{sys.byteorder[0]}e"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read a scipy.sparse matrix, or arrays of edges or of matrix entries."""
    from scipy import sparse

    weight, symmetrize = options.weight, options.symmetrize
    with parsing(name, "npz"), np.load(file, allow_pickle=False) as archive:
        if options.source is not None:
            return _graph_of_edges(archive, options)
        if "format" in archive.files:
            options.limit.check(_expanded_size(archive, _MATRIX_ARRAYS))
            _check_indices(archive, name)
            if archive["format"].item() in ("csr", b"csr"):
                matrix = _csr_matrix(archive)
                check_claim(name, matrix.shape[0], matrix.nnz)
                return from_own_csr(matrix, weight, symmetrize)
            file.seek(0)
            matrix = sparse.load_npz(file)
        elif {"row", "col"} <= set(archive.files):
            options.limit.check(_expanded_size(archive, _MATRIX_ARRAYS))
            _check_indices(archive, name)
            matrix = _matrix_of_entries(archive)
        else:
            return _graph_of_edges(archive, options)
    check_claim(name, matrix.shape[0], matrix.nnz)
    return from_sparse(matrix, weight, symmetrize)


def _check_indices(archive: Any, name: str) -> None:
    """Refuse rows and columns with numbers that scipy would cut down to whole ones."""
    for key in _INDEX_ARRAYS:
        if key not in archive.files:
            continue
        member = _member(archive, key)
        if member is not None and member.dtype.kind in "iu":
            continue
        values = archive[key].ravel()
        if values.size == 0 or values.dtype.kind in "iu":
            continue
        is_float = values.dtype.kind == "f"
        cut = np.flatnonzero(values != np.trunc(values)) if is_float else values[:0]
        first = int(cut[0]) if cut.size else 0
        problem = (
            f"row and column numbers must be whole numbers, got {values[first].item()!r} in entry "
            f"{first} of the array {key!r}"
        )
        hint = "Save this array with an integer type, for instance with array.astype(int)."
        raise format_error(name, None, problem, hint)


def _csr_matrix(archive: Any) -> Any:
    """Read the arrays that scipy saves, without the data where it is all ones."""
    from scipy import sparse

    member = _member(archive, "data")
    if member is not None and all(np.all(piece == 1) for piece in _pieces(archive, member)):
        data = np.ones(member.length, dtype=bool)
    else:
        data = archive["data"]
    parts = (data, archive["indices"], archive["indptr"])
    return sparse.csr_array(parts, shape=archive["shape"])


def _matrix_of_entries(arrays: Any) -> Any:
    from scipy import sparse

    row, col = arrays["row"], arrays["col"]
    data = arrays["data"] if "data" in arrays else np.ones(len(row))
    size = int(max(row.max(initial=-1), col.max(initial=-1))) + 1
    shape = tuple(arrays["shape"].tolist()) if "shape" in arrays else (size, size)
    return sparse.coo_array((data, (row, col)), shape=shape)


def _expanded_size(archive: Any, keys: Iterable[str]) -> int:
    """Return the bytes that some arrays announce; zipfile never reads more than that."""
    members = {info.filename: info.file_size for info in archive.zip.infolist()}
    return sum(members.get(key, members.get(f"{key}.npy", 0)) for key in keys)


def _graph_of_edges(archive: Any, options: ReadOptions) -> Graph:
    symmetrize = options.symmetrize
    wanted = edge_columns(archive.files, options.weight, options.source, options.target)
    if symmetrize == "union":
        del wanted[2:]
    options.limit.check(_expanded_size(archive, wanted))
    members = [_member(archive, key) for key in wanted]
    columns = [member for member in members if member is not None]
    if len(columns) == len(wanted):
        check_lengths([column.length for column in columns])
        build = _builder(columns)
        if build is not None:
            return from_stream(_NpzEdges(archive, columns), build, symmetrize)
    source, target, *rest = (as_column(archive[key]) for key in wanted)
    return from_edge_arrays(source, target, rest[0] if rest else None, symmetrize)


@dataclass(frozen=True)
class _Member:
    """A one-dimensional array in the archive: what its header says."""

    key: str
    length: int
    dtype: np.dtype[Any]
    begin: int


def _member(archive: Any, key: str) -> _Member | None:
    """Read the header of an array; ``None`` if it must be read as a whole."""
    with _opened(archive, key) as stream:
        version = npy.read_magic(stream)
        if version not in _HEADERS:
            return None
        shape, _, dtype = _HEADERS[version](stream)
        begin = stream.tell()
    if len(shape) != 1 or dtype.hasobject or dtype.itemsize == 0:
        return None
    return _Member(key, shape[0], dtype, begin)


def _opened(archive: Any, key: str) -> Any:
    inside = set(archive.zip.namelist())
    return archive.zip.open(key if key in inside else f"{key}.npy")


def _builder(columns: list[_Member]) -> Any:
    """Choose how names are numbered; ``None`` for types that need Python objects."""
    for column in columns[:2]:
        if column.dtype.kind in "fc":
            raise fractional_names(column.key, str(column.dtype))
    if any(column.dtype.kind not in "biuf" for column in columns[2:]):
        return None
    kinds = {column.dtype.kind for column in columns[:2]}
    if kinds <= set("iu"):
        return graph_of_integers
    return graph_of_texts if kinds in ({"U"}, {"S"}) else None


class _NpzEdges:
    """The edges of an archive with an array for each column."""

    def __init__(self, archive: Any, columns: list[_Member]) -> None:
        self._archive = archive
        self._columns = columns
        self.edges = columns[0].length
        self.weighted = len(columns) > 2
        ends = np.promote_types(columns[0].dtype, columns[1].dtype)
        # Text is compared letter by letter, so both columns are made as wide as the wider one.
        self._texts = ends.newbyteorder("=") if ends.kind in "US" else None

    def batches(self) -> Iterator[Batch]:
        """Read the arrays from the start."""
        row = 0
        for parts in zip(
            *(_pieces(self._archive, column) for column in self._columns), strict=True
        ):
            source, target = parts[:2]
            weight = None
            if self.weighted:
                weight = weights_of_rows(
                    parts[2], source, target, column=self._columns[2].key, first_row=row
                )
            row += source.size
            if self._texts is not None:
                source, target = (_texts(part.astype(self._texts)) for part in parts[:2])
            yield Batch(source, target, weight)


def _pieces(archive: Any, column: _Member) -> Iterator[Any]:
    with _opened(archive, column.key) as stream:
        stream.read(column.begin)
        for begin in range(0, column.length, BATCH):
            count = min(BATCH, column.length - begin)
            raw = stream.read(count * column.dtype.itemsize)
            # A short read leaves fewer bytes than numpy needs, which it says.
            piece = np.frombuffer(raw, column.dtype, count)
            yield piece.astype(column.dtype.newbyteorder("="), copy=False)


def _texts(column: Any) -> Texts:
    width = column.dtype.itemsize
    decode = _decoded if column.dtype.kind == "U" else _stripped
    return Texts(np.arange(0, (len(column) + 1) * width, width), column.view(np.uint8), decode)


def _decoded(raw: bytes) -> str:
    return raw.decode(_UTF_32, "surrogatepass").rstrip("\0")


def _stripped(raw: bytes) -> bytes:
    return raw.rstrip(b"\0")
