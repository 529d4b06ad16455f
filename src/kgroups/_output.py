"""Output: files that are written whole or not at all, tables, and HTML for notebooks."""

import csv
import gzip
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kgroups._wording import install_hint, text_of
from kgroups.errors import FileFormatError, InputError, MissingExtraError

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_PAGE_SUFFIXES = (".html", ".htm")
# Spreadsheets read cells that start with these as formulas.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# Texts longer than this are cut, so that one name does not fill the screen.
_LONGEST_TEXT = 60


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write to a temporary file beside the target, then move it into place.

    No reader sees a partial file. A file that is replaced keeps its permissions, which the
    temporary file never exceeds.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file beside the target, which replaces it unless there is an error."""
    check_writable(path)
    target = Path(path).resolve()
    # Not made of the target's name, which may be as long as names can be.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        temporary.touch(0o666 if mode is None else 0o600, exist_ok=False)
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def encode_table(columns: Mapping[str, Any], path: str | os.PathLike[str]) -> bytes:
    """Return the content of a table in the format of its suffix: .csv, .csv.gz or .parquet.

    In CSV files texts are quoted if a spreadsheet could read one of them as a formula.
    """
    if str(path).lower().endswith(".parquet"):
        pyarrow, parquet = import_pyarrow()
        sink = io.BytesIO()
        parquet.write_table(pyarrow.table(dict(columns)), sink)
        return sink.getvalue()
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(columns)
    listed = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values()]
    # The writer does not quote a bare carriage return, which ends a line for readers, and some
    # spreadsheets can be set to read quoted formulas as text.
    quoted = any(
        isinstance(v, str) and (v.startswith(FORMULA_STARTS) or "\r" in v)
        for values in listed
        for v in values
    )
    writer = csv.writer(
        text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if quoted else csv.QUOTE_MINIMAL
    )
    writer.writerows(zip(*listed, strict=True))
    content = text.getvalue().encode("utf-8", "surrogatepass")
    return gzip.compress(content, mtime=0) if str(path).lower().endswith(".gz") else content


def import_pyarrow(what: str = "Parquet files") -> tuple[Any, Any]:
    """Return the modules ``pyarrow`` and ``pyarrow.parquet``, or raise and name the extra."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        msg = f"{what} need pyarrow. {install_hint('parquet')}"
        raise MissingExtraError(msg) from error
    return pyarrow, parquet


def require_matplotlib() -> None:
    """Raise an error that names the extra unless matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        msg = f"drawing needs matplotlib. {install_hint('plot')}"
        raise MissingExtraError(msg) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise if a file cannot be written there, before time is spent on its content."""
    shown, place = str(path), Path(path).resolve()
    if not place.parent.is_dir():
        msg = f"there is no folder {str(Path(path).parent)!r} to write {shown!r} into."
        raise InputError(msg)
    if place.is_dir():
        msg = f"{shown!r} is a folder, not a file.\n  Name another file."
        raise InputError(msg)
    if not os.access(place.parent, os.W_OK):
        msg = (
            f"no file can be written into the folder {str(place.parent)!r}: it is read-only.\n"
            "  Name a file in another folder."
        )
        raise InputError(msg)


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise if no report can be written there: another suffix, or no folder."""
    if Path(path).suffix.lower() not in _PAGE_SUFFIXES:
        msg = f"the name of a report must end in {' or '.join(_PAGE_SUFFIXES)}; got {str(path)!r}."
        raise InputError(msg)
    check_writable(path)


def exists(path: str | os.PathLike[str]) -> bool:
    """Return whether there is anything at a path; a text that cannot be one leads nowhere."""
    try:
        return os.fspath(path) != "" and Path(path).exists()
    except (OSError, ValueError):
        # Longer than a file name, or with a null character.
        return False


def check_regular(
    path: str | os.PathLike[str], hint: str = "Write its content to a file, and pass that."
) -> None:
    """Raise if a path leads to anything but a file: a pipe may block, and a device may not end."""
    mode = Path(path).stat().st_mode
    if stat.S_ISREG(mode):
        return
    kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), "something else")
    advice = "Name a file." if stat.S_ISDIR(mode) else hint
    msg = f"{path} must be a regular file, got {kind}.\n  {advice}"
    raise FileFormatError(msg)


def html_text(value: object) -> str:
    """Return a value as escaped text of one line and limited length.

    >>> html_text("<b>bold</b>")
    '&lt;b&gt;bold&lt;/b&gt;'
    """
    line = " ".join(text_of(value).split())
    return escape(line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…")


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as text, with columns that are aligned at the right.

    >>> print(text_table([["node", "k"], ["ann", "10"]]))
    node   k
     ann  10
    """
    columns = []
    for cells in zip(*rows, strict=True):
        width = max(map(len, cells))
        columns.append([cell.rjust(width) for cell in cells])
    return "\n".join(map("  ".join, zip(*columns, strict=True)))


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; numbers are aligned at the right.

    >>> "<td" in html_table(["node"], [["<td>"]]), "<td>" in html_table(["node"], [["<td>"]])
    (True, False)
    """
    head = "".join(f"<th>{html_text(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values."""
    body = "".join(
        f'<tr><th style="text-align:left">{html_text(name)}</th>{_cell(value)}</tr>'
        for name, value in pairs
    )
    return f"<table><tbody>{body}</tbody></table>"


def html_result(head: str, lines: Iterable[str], table: str) -> str:
    """Return what a notebook shows of a result: a headline, sentences, and a table.

    Headline and sentences may have any length.

    >>> html_result("a < b", ["It is so."], "")
    '<b>a &lt; b</b><div>It is so.</div>'
    """
    return f"<b>{escape(head)}</b>{html_lines(lines)}{table}"


def html_lines(lines: Iterable[str]) -> str:
    """Return sentences of any length, one below the other."""
    return "".join(f"<div>{escape(line)}</div>" for line in lines)


def html_beside(*parts: str) -> str:
    """Return parts side by side, where there is room."""
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    return f'<div style="{style}">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


def _cell(value: object) -> str:
    shown, side = html_text(value), "left"
    if isinstance(value, int | float) and not isinstance(value, bool):
        side = "right"
        if isinstance(value, float):
            shown = f"{value:,.3f}".rstrip("0").rstrip(".")
        elif abs(value) < 10**18:
            # Longer ones are names of nodes, and may be longer than Python writes.
            shown = f"{value:,}"
    return f'<td style="text-align:{side};padding:0.1em 0.6em">{shown}</td>'
