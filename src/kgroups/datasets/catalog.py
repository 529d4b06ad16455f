"""The catalog of networks and tables: their files, and the folders that are searched for them."""

import difflib
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from kgroups._wording import function, listed
from kgroups.errors import FileFormatError, InputError

_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class DataFile:
    """A file and the checksum it must have."""

    file: str
    sha256: str


@dataclass(frozen=True)
class Entry:
    """Fields of the catalog that networks and tables share."""

    name: str
    title: str
    bundled: bool
    citation: str
    archive: str
    origin: str
    license: str
    note: str

    kind: ClassVar[str]
    loader: ClassVar[str]
    describer: ClassVar[str]

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file that loading reads, once."""
        values = (getattr(self, field.name) for field in fields(self))
        listed = (value.values() if isinstance(value, Mapping) else [value] for value in values)
        files = (file for file in chain.from_iterable(listed) if isinstance(file, DataFile))
        return tuple(dict.fromkeys(files))

    @property
    def present(self) -> bool:
        """Whether every file is present; checksums are compared on loading."""
        return len(self.paths) == len(self.files)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of the files that were found."""
        return tuple(path for file in self.files if (path := _find(self, file)) is not None)


_Kind = TypeVar("_Kind", bound=Entry)


@dataclass(frozen=True)
class DatasetInfo(Entry):
    """What is known about a network without reading it.

    Attributes
    ----------
    name, title : str
        The name that :func:`kgroups.datasets.load` takes, and what the network is.
    family : str
        The kind of network, for example "citation", "colleges" or "biological".
    nodes, edges : int
        Size as loaded by default; self-loops are counted.
    directed, weighted : bool
        Whether the edge file has directions, and weights.
    bundled : bool
        Whether the files come with kgroups.
    citation, archive, origin, license, note : str
        Publication to cite, archive of the creators' own files (empty for what ships with
        kgroups), source of the copy, its terms, and what to know before use.
    edge_file, label_files, community_file, truth
        The files, and which of the label files is the usual ground truth. Edges and labels may
        be in one file.
    """

    family: str
    nodes: int
    edges: int
    directed: bool
    weighted: bool
    edge_file: DataFile
    label_files: Mapping[str, DataFile]
    community_file: DataFile | None
    truth: str | None

    kind = "network"
    loader = "kgroups.datasets.load"
    describer = "kgroups.datasets.describe"


@dataclass(frozen=True)
class TableInfo(Entry):
    """What is known about a table without reading it.

    Attributes
    ----------
    name, title : str
        The name that :func:`kgroups.datasets.load_table` takes, and what the table is.
    rows, columns, classes : int
        How many cases there are, how many numbers each has, and how many labels are in use.
    missing : int
        How many cells are empty.
    bundled : bool
        Whether the file comes with kgroups; no table does.
    citation, archive, origin, license, note : str
        Publication to cite, archive of the creators' own files (empty for what ships with
        kgroups), source of the copy, its terms, and what to know before use.
    data_file
        The file.
    """

    rows: int
    columns: int
    classes: int
    missing: int
    data_file: DataFile

    kind = "table"
    loader = "kgroups.datasets.load_table"
    describer = "kgroups.datasets.describe_tables"


def names() -> tuple[str, ...]:
    """Return the names of all known networks, those that ship with kgroups first.

    Examples
    --------
    >>> from kgroups import datasets
    >>> datasets.names()[:3]
    ('karate', 'les_miserables', 'florentine_families')
    """
    return tuple(_known(DatasetInfo))


def describe() -> tuple[DatasetInfo, ...]:
    """Return what is known about each network, in the order of :func:`names`.

    Examples
    --------
    >>> from kgroups import datasets
    >>> karate = datasets.describe()[0]
    >>> karate.title, karate.nodes, karate.edges, karate.present
    ('Friendships in a karate club that split in two', 34, 78, True)
    """
    return tuple(_known(DatasetInfo).values())


def table_names() -> tuple[str, ...]:
    """Return the names of all known tables.

    Examples
    --------
    >>> from kgroups import datasets
    >>> datasets.table_names()[:3]
    ('dermatology', 'libras', 'vehicle')
    """
    return tuple(_known(TableInfo))


def describe_tables() -> tuple[TableInfo, ...]:
    """Return what is known about each table, in the order of :func:`table_names`.

    Examples
    --------
    >>> from kgroups import datasets
    >>> dermatology = datasets.describe_tables()[0]
    >>> dermatology.rows, dermatology.columns, dermatology.classes, dermatology.missing
    (366, 34, 6, 8)
    """
    return tuple(_known(TableInfo).values())


def data_folders() -> tuple[Path, ...]:
    """Return the folders that are searched for files that do not ship with kgroups.

    The folder named by the environment variable ``KGROUPS_DATA`` comes first when it is set,
    then ``kgroups`` in the user's own data folder.
    """
    home = Path.home()
    if sys.platform == "win32":
        users = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        users = home / "Library" / "Application Support"
    else:
        users = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    named = os.environ.get("KGROUPS_DATA")
    return (*([Path(named)] if named else []), users / "kgroups")


def read_checked(entry: Entry, data_file: DataFile) -> bytes:
    """Return the content of a file after comparing its checksum."""
    path = _find(entry, data_file)
    if path is None:
        raise FileFormatError(_absent_message(entry, data_file))
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != data_file.sha256:
        reader = function("kgroups.read_graph()") if entry.kind == "network" else "pandas"
        msg = (
            f"{path} must have the sha256 {data_file.sha256} of the {entry.kind} {entry.name!r}, "
            f"got {found}.\n"
            f"  Replace it with the original ({entry.origin}), or read your own file with {reader}."
        )
        raise FileFormatError(msg)
    return content


def _known(kind: type[_Kind]) -> dict[str, _Kind]:
    return {name: entry for name, entry in _index().items() if isinstance(entry, kind)}


def find_entry(name: str, wanted: type[_Kind]) -> _Kind:
    """Return the entry of this name, or raise an error that lists the names."""
    entry = _index().get(name) if isinstance(name, str) else None
    if isinstance(entry, wanted):
        return entry
    if entry is not None:
        msg = (
            f"{wanted.loader} must be given the name of a {wanted.kind}; got {name!r}, which is "
            f"the name of a {entry.kind}.\n  Load it with {entry.loader}({name!r})."
        )
        raise InputError(msg)
    known = _known(wanted)
    close = difflib.get_close_matches(str(name), known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    msg = (
        f"the name of a {wanted.kind} must be one of {listed(known)}; got {name!r}.{guess}\n"
        f"  {wanted.describer}() describes each of them."
    )
    raise InputError(msg)


def _absent_message(entry: Entry, data_file: DataFile) -> str:
    if entry.bundled:
        return (
            f"the {entry.kind} {entry.name!r} needs the file {data_file.file}, which must be "
            "installed with kgroups and is missing.\n  Install kgroups again."
        )
    folders = data_folders()
    return (
        f"the {entry.kind} {entry.name!r} needs the file {data_file.file}, which is not in "
        f"{' or '.join(str(folder) for folder in folders)}.\n"
        f"  It does not ship with kgroups. Its creators: {entry.citation}.\n"
        f"  Their archive: {entry.archive}.\n"
        f"  The copy with this checksum: {entry.origin}.\n"
        f"  Its sha256: {data_file.sha256}.\n"
        f"  Put it into {folders[0]}, or name its folder in the environment variable KGROUPS_DATA."
    )


def _bundled_folders() -> tuple[Path, ...]:
    """Return the folders of the files in a wheel and in the source tree."""
    return (_PACKAGE / "files", _PACKAGE.parents[2] / "datasets")


def _find(entry: Entry, data_file: DataFile) -> Path | None:
    return _first_file(data_file.file, _bundled_folders() if entry.bundled else data_folders())


def _first_file(name: str, folders: tuple[Path, ...]) -> Path | None:
    return next((path for folder in folders if (path := folder / name).is_file()), None)


@cache
def _index() -> Mapping[str, Entry]:
    path = _first_file("index.json", _bundled_folders())
    if path is None:
        msg = (
            "the list of networks and tables, index.json, must be installed with kgroups and is "
            "missing.\n  Install kgroups again."
        )
        raise FileFormatError(msg)
    listed = json.loads(path.read_text(encoding="utf-8"), object_hook=_frozen)
    entries: list[Entry] = [
        *(DatasetInfo(**record) for record in listed["networks"]),
        *(TableInfo(**record) for record in listed["tables"]),
    ]
    return MappingProxyType({entry.name: entry for entry in entries})


def _frozen(record: dict[str, Any]) -> DataFile | Mapping[str, Any]:
    return DataFile(**record) if "sha256" in record else MappingProxyType(record)
