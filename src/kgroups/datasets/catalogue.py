"""What networks there are, which files hold them and where these files are looked for."""

import difflib
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgroups.errors import FileFormatError, InputError

__all__ = ["DataFile", "DatasetInfo", "data_folders", "describe", "info", "names", "read_checked"]

_ROOM = Path(__file__).resolve().parent


@dataclass(frozen=True)
class DataFile:
    """A file of a network and the checksum it must have."""

    file: str
    sha256: str


@dataclass(frozen=True)
class DatasetInfo:
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
    citation, origin, licence, note : str
        Whom to cite, where the copy is from, its terms, and what to know before use.
    edge_file, label_files, community_file, truth
        The files, and which of the label files is the usual ground truth.
    """

    name: str
    title: str
    nodes: int
    edges: int
    directed: bool
    weighted: bool
    bundled: bool
    citation: str
    origin: str
    licence: str
    note: str
    edge_file: DataFile
    label_files: Mapping[str, DataFile]
    community_file: DataFile | None
    truth: str | None

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file that loading reads."""
        overlapping = () if self.community_file is None else (self.community_file,)
        return (self.edge_file, *self.label_files.values(), *overlapping)

    @property
    def present(self) -> bool:
        """Whether every file is there; checksums are compared on loading."""
        return all(_find(self, data_file) is not None for data_file in self.files)


def names() -> tuple[str, ...]:
    """Return the names of all known networks, those that ship with kgroups first.

    Examples
    --------
    >>> from kgroups import datasets
    >>> datasets.names()[:3]
    ('karate', 'les_miserables', 'florentine_families')
    """
    return tuple(_index())


def describe() -> tuple[DatasetInfo, ...]:
    """Return what is known about each network, in the order of :func:`names`.

    Examples
    --------
    >>> from kgroups import datasets
    >>> karate = datasets.describe()[0]
    >>> karate.title, karate.nodes, karate.edges, karate.present
    ('Friendships in a karate club that split in two', 34, 78, True)
    """
    return tuple(_index().values())


def info(name: str) -> DatasetInfo:
    """Return what is known about the network called ``name``."""
    known = _index()
    if not isinstance(name, str) or name not in known:
        close = difflib.get_close_matches(str(name), known, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        msg = (
            f"the name of a network must be one of {', '.join(known)}; got {name!r}.{guess}\n"
            "  kgroups.datasets.describe() tells what each of them is."
        )
        raise InputError(msg)
    return known[name]


def data_folders() -> tuple[Path, ...]:
    """Return the folders in which networks that do not ship with kgroups are looked for.

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


def read_checked(entry: DatasetInfo, data_file: DataFile) -> bytes:
    """Return the content of a file of a network after comparing its checksum."""
    path = _find(entry, data_file)
    if path is None:
        raise FileFormatError(_absent_message(entry, data_file))
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != data_file.sha256:
        msg = (
            f"{path} must have the sha256 {data_file.sha256} of the network {entry.name!r}, "
            f"got {found}.\n"
            f"  Replace it by the original ({entry.origin}), or read it as a graph of your own "
            "with kgroups.read_graph."
        )
        raise FileFormatError(msg)
    return content


def _absent_message(entry: DatasetInfo, data_file: DataFile) -> str:
    if entry.bundled:
        return (
            f"the network {entry.name!r} needs the file {data_file.file}, which must be installed "
            "with kgroups and is missing.\n  Install kgroups again."
        )
    folders = data_folders()
    return (
        f"the network {entry.name!r} needs the file {data_file.file}, which is not in "
        f"{' or '.join(str(folder) for folder in folders)}.\n"
        f"  It does not ship with kgroups. Its origin: {entry.origin}.\n"
        f"  Its sha256: {data_file.sha256}.\n"
        f"  Put it into {folders[0]}, or name its folder in the environment variable KGROUPS_DATA."
    )


def _bundled_folders() -> tuple[Path, ...]:
    """Return where a wheel has the files and where the source tree has them."""
    return (_ROOM / "files", _ROOM.parents[2] / "datasets")


def _find(entry: DatasetInfo, data_file: DataFile) -> Path | None:
    folders = _bundled_folders() if entry.bundled else data_folders()
    places = (folder / data_file.file for folder in folders)
    return next((path for path in places if path.is_file()), None)


@cache
def _index() -> Mapping[str, DatasetInfo]:
    path = next(
        (place for folder in _bundled_folders() if (place := folder / "index.json").is_file()),
        None,
    )
    if path is None:
        msg = (
            "the list of networks, index.json, must be installed with kgroups and is missing.\n"
            "  Install kgroups again."
        )
        raise FileFormatError(msg)
    records = json.loads(path.read_text(encoding="utf-8"))["networks"]
    return MappingProxyType({record["name"]: _as_info(record) for record in records})


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
