"""Files that are written whole or not at all."""

import os
import secrets
import stat
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write to a temporary file beside the target, then move it into place.

    No reader sees a partial file. A file that is replaced keeps its permissions, which the
    temporary file never exceeds.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        temporary.touch(0o666 if mode is None else 0o600, exist_ok=False)
        temporary.write_bytes(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
