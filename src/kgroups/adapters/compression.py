"""Compressed files, which must not expand without bound."""

import gzip
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from kgroups._wording import argument, in_python, setting
from kgroups.adapters.text import format_error
from kgroups.errors import InputError

__all__ = ["MAX_EXPANSION", "Limit", "expansion_limit", "open_file"]

MAX_EXPANSION = 100.0
"""Times its own size to which a compressed file may expand by default."""

_ALWAYS_ALLOWED = 64 << 20
_STEP = 1 << 20
_DEFLATE_RATIO = 1032  # No deflate stream expands further.


@dataclass(frozen=True)
class Limit:
    """How many bytes the content of a compressed file may have.

    Attributes
    ----------
    name : str
        The file, for the error message.
    size : int
        Bytes of the file as it is stored.
    max_expansion : float
        Times the size that the content may reach; 64 MiB are allowed in any case.
    """

    name: str
    size: int
    max_expansion: float

    def check(self, expanded: int) -> None:
        """Raise if the content has, or announces, more bytes than are allowed."""
        if expanded <= max(_ALWAYS_ALLOWED, self.max_expansion * self.size):
            return
        problem = (
            f"a compressed file must not expand to more than {self.max_expansion:g} times its "
            f"size and more than 64 MiB, got {self.size} bytes that expand to at least {expanded}"
        )
        where = in_python(" to kgroups.read_graph")
        hint = f"If you trust this file, pass a larger {argument('max_expansion')}{where}."
        raise format_error(self.name, None, problem, hint)


def expansion_limit(path: Path, max_expansion: object) -> Limit:
    """Return the limit for a file; raise unless ``max_expansion`` is a number of at least 1."""
    is_number = isinstance(max_expansion, int | float) and not isinstance(max_expansion, bool)
    if not is_number or not max_expansion >= 1:  # type: ignore[operator]
        msg = (
            f"{argument('max_expansion')} must be a number >= 1, got {max_expansion!r}.\n"
            f"  Pass for instance {setting('max_expansion', 1000)}, or "
            f"{setting('max_expansion', math.inf)} for no limit."
        )
        raise InputError(msg)
    return Limit(path.name, path.stat().st_size, float(cast("float", max_expansion)))


def open_file(path: Path, limit: Limit) -> BinaryIO:
    """Open a file for reading, decompressed while it is read if it ends with ``.gz``.

    A file beyond the limit is refused here, before a reader has made anything of its beginning.
    """
    if path.suffix.lower() != ".gz":
        return path.open("rb")
    content = _Decompressed(path, limit)
    try:
        content.check_whole()
    except BaseException:
        content.close()
        raise
    return cast("BinaryIO", io.BufferedReader(content))


class _Decompressed(io.RawIOBase):
    """The content of a gzip file, up to the limit; what lies beyond is never held in memory."""

    def __init__(self, path: Path, limit: Limit) -> None:
        self._file = gzip.open(path, "rb")  # noqa: SIM115 (closed with this object)
        self._limit = limit

    def check_whole(self) -> None:
        """Decompress everything once without keeping it, unless so small a file is harmless."""
        if self._limit.size * _DEFLATE_RATIO > _ALWAYS_ALLOWED:
            passing = bytearray(_STEP)
            while self.readinto(passing):
                pass
            self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[:_STEP])
        self._limit.check(self._file.tell())
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        position = self._file.seek(offset, whence)
        self._limit.check(position)
        return position

    def close(self) -> None:
        self._file.close()
        super().close()
