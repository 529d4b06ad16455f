"""Files that are written whole or not at all, and files that can be read to their end."""

import os
import secrets
import stat
from pathlib import Path

from kgroups.errors import FileFormatError, InputError

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write to a temporary file beside the target, then move it into place.

    No reader sees a partial file. A file that is replaced keeps its permissions, which the
    temporary file never exceeds.
    """
    check_writable(path)
    target = Path(path).resolve()
    # A name of its own: one that is made of the target's may be too long.
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        temporary.touch(0o666 if mode is None else 0o600, exist_ok=False)
        temporary.write_bytes(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is anything at a path; a text that cannot be one leads nowhere."""
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
