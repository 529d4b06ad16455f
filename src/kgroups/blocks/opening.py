"""``open_graph``: a store is made once, and opened from then on."""

import os
from pathlib import Path
from typing import Any

from kgroups._progress import StageProgress, Stages, stage_progress
from kgroups._wording import argument, in_python, setting
from kgroups.adapters.edges import ReadOptions
from kgroups.blocks.folder import (
    full_disk_explained,
    is_partial,
    locked,
    partial_folder,
    remove_partial,
)
from kgroups.blocks.ingest import Ingest, Request
from kgroups.blocks.sources import source_files
from kgroups.blocks.store import StoredGraph, is_store, memory_bytes
from kgroups.errors import GraphError, InputError, StoreError


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
    request = Request(source_files(edges), options, block_entries)
    if is_store(folder):
        return _opened(folder, budget, request)
    _check_place(folder)
    partial = partial_folder(folder)
    with (
        full_disk_explained(folder.parent),
        locked(folder),
        stage_progress(progress=progress) as announce,
        Stages(announce) as stages,
    ):
        # Another process may have made it in the meantime.
        if not is_store(folder):
            partial.mkdir(exist_ok=True)
            try:
                Ingest(request, partial, budget).run(stages)
            except GraphError:
                # The sources must change first.
                remove_partial(partial)
                raise
            if folder.exists():
                folder.rmdir()
            partial.rename(folder)
    return _opened(folder, budget, request)


def _check_block_entries(block_entries: object) -> None:
    if block_entries is not None and (type(block_entries) is not int or block_entries < 1):
        msg = (
            f"{argument('block_entries')} must be a whole number >= 1 or None, got "
            f"{block_entries!r}.\n  Leave it out to derive it from {argument('memory')}."
        )
        raise InputError(msg)


def _opened(folder: Path, memory: int, request: Request) -> StoredGraph:
    """Open a store if it is made of these sources with these options."""
    stored = StoredGraph(folder, memory)
    difference = _difference(stored.made_of, request.made_of())
    if difference:
        otherwise = in_python(
            f"; without edges, open_graph(store={str(folder)!r}) opens it as it is"
        )
        msg = (
            f"the store {str(folder)!r} must be made of the same edges with the same options, but "
            f"{difference}.\n  Choose another folder, or delete this one{otherwise}."
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
