"""What networks and tables there are, which files hold them and where the files are looked for."""

import difflib
import hashlib
import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from kgroups._wording import function
from kgroups.errors import FileFormatError, InputError

__all__ = [
    "DataFile",
    "DatasetInfo",
    "Entry",
    "TableInfo",
    "data_folders",
    "describe",
    "describe_tables",
    "info",
    "names",
    "read_checked",
    "table_info",
    "table_names",
]

_ROOM = Path(__file__).resolve().parent


@dataclass(frozen=True)
class DataFile:
    """A file and the checksum it must have."""

    file: str
    sha256: str


@dataclass(frozen=True)
class Entry(ABC):
    """What is known about a network or a table alike."""

    name: str
    title: str
    bundled: bool
    citation: str
    archive: str
    origin: str
    licence: str
    note: str

    kind: ClassVar[str]
    loader: ClassVar[str]
    describer: ClassVar[str]

    @staticmethod
    @abstractmethod
    def own_reader() -> str:
        """Return how a file with other content is read."""

    @property
    @abstractmethod
    def files(self) -> tuple[DataFile, ...]:
        """Every file that loading reads."""

    @property
    def present(self) -> bool:
        """Whether every file is there; checksums are compared on loading."""
        return len(self.paths) == len(self.files)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the files are that were found."""
        found = (_find(self, data_file) for data_file in self.files)
        return tuple(path for path in found if path is not None)


_Kind = TypeVar("_Kind", bound=Entry)


@dataclass(frozen=True)
class DatasetInfo(Entry):
    """What is known about a network without reading it.

    Attributes
    ----------
    name, title : str
        The name that :func:`kgroups.datasets.load` takes, and what the network is.
    nodes, edges : int
        Size as loaded by default; self-loops are counted.
    directed, weighted : bool
        Whether the edge file has directions, and weights.
    bundled : bool
        Whether the files come with kgroups.
    citation, archive, origin, licence, note : str
        Whom to cite, where the creators' own files are kept (empty for what ships with kgroups),
        where the copy is from, its terms, and what to know before use.
    edge_file, label_files, community_file, truth
        The files, and which of the label files is the usual ground truth.
    """

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

    @staticmethod
    def own_reader() -> str:
        """Return how a file with other edges is read."""
        return f"as a graph of your own with {function('kgroups.read_graph()')}"

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file that loading reads."""
        overlapping = () if self.community_file is None else (self.community_file,)
        return (self.edge_file, *self.label_files.values(), *overlapping)


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
    citation, archive, origin, licence, note : str
        Whom to cite, where the creators' own files are kept (empty for what ships with kgroups),
        where the copy is from, its terms, and what to know before use.
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

    @staticmethod
    def own_reader() -> str:
        """Return how a file with other rows is read."""
        return "as a table of your own, with pandas for instance"

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The one file that loading reads."""
        return (self.data_file,)


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


def info(name: str) -> DatasetInfo:
    """Return what is known about the network called ``name``."""
    return _called(name, DatasetInfo)


def table_info(name: str) -> TableInfo:
    """Return what is known about the table called ``name``."""
    return _called(name, TableInfo)


def data_folders() -> tuple[Path, ...]:
    """Return the folders in which files that do not ship with kgroups are looked for.

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
        msg = (
            f"{path} must have the sha256 {data_file.sha256} of the {entry.kind} {entry.name!r}, "
            f"got {found}.\n"
            f"  Replace it by the original ({entry.origin}), or read it {entry.own_reader()}."
        )
        raise FileFormatError(msg)
    return content


def _known(kind: type[_Kind]) -> dict[str, _Kind]:
    return {name: entry for name, entry in _index().items() if isinstance(entry, kind)}


def _called(name: str, wanted: type[_Kind]) -> _Kind:
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
        f"the name of a {wanted.kind} must be one of {', '.join(known)}; got {name!r}.{guess}\n"
        f"  {wanted.describer}() tells what each of them is."
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
    """Return where a wheel has the files and where the source tree has them."""
    return (_ROOM / "files", _ROOM.parents[2] / "datasets")


def _find(entry: Entry, data_file: DataFile) -> Path | None:
    folders = _bundled_folders() if entry.bundled else data_folders()
    places = (folder / data_file.file for folder in folders)
    return next((path for path in places if path.is_file()), None)


@cache
def _index() -> Mapping[str, Entry]:
    path = next(
        (place for folder in _bundled_folders() if (place := folder / "index.json").is_file()),
        None,
    )
    if path is None:
        msg = (
            "the list of networks and tables, index.json, must be installed with kgroups and is "
            "missing.\n  Install kgroups again."
        )
        raise FileFormatError(msg)
    listed = json.loads(path.read_text(encoding="utf-8"))
    entries: list[Entry] = [*map(_as_info, listed["networks"]), *map(_as_table, listed["tables"])]
    return MappingProxyType({entry.name: entry for entry in entries})


def _as_info(record: dict[str, Any]) -> DatasetInfo:
    overlapping = record["community_file"]
    parsed = {
        "edge_file": DataFile(**record["edge_file"]),
        "label_files": MappingProxyType(
            {label: DataFile(**data_file) for label, data_file in record["label_files"].items()}
        ),
        "community_file": None if overlapping is None else DataFile(**overlapping),
    }
    return DatasetInfo(**{**record, **parsed})


def _as_table(record: dict[str, Any]) -> TableInfo:
    return TableInfo(**{**record, "data_file": DataFile(**record["data_file"])})
