"""Peak memory of this process, from the kernel's own high-water mark (Linux; None elsewhere)."""

import ctypes
import gc
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_HIGH_WATER_MARK = "5"


def start_watching() -> int | None:
    """Give freed memory back, forget the peak so far and return the bytes in use now."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    try:
        _CLEAR.write_text(_RESET_HIGH_WATER_MARK)
    except OSError:
        return None
    return _bytes_of("VmRSS")


def peak_above(before: int | None) -> int | None:
    """Return by how many bytes memory rose above ``before`` since the watch began."""
    return None if before is None else _bytes_of("VmHWM") - before


def _bytes_of(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])
