"""Text for people: aligned columns that never carry control characters to a terminal."""

import shutil
from collections.abc import Iterable, Sequence

__all__ = ["facts", "number", "printable", "shortened", "table", "width"]


def width() -> int:
    """Return how many columns the output has; 100 where there is no terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def printable(value: object) -> str:
    """Return text with everything that a terminal would obey or not show spelled out."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def number(value: float) -> str:
    """Return a score with three decimals, a whole number without."""
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def shortened(texts: Iterable[str], limit: int) -> str:
    """Join texts with commas, stopping with dots before the line grows over ``limit``."""
    line = ""
    for text in texts:
        longer = f"{line}, {text}" if line else text
        if len(longer) > limit - 5:
            return f"{line}, ..." if line else f"{text[: max(limit - 5, 1)]}..."
        line = longer
    return line


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a name and a value per line, the values aligned."""
    rows = [(name, printable(value)) for name, value in pairs]
    wide = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {name:<{wide}}  {value}".rstrip() for name, value in rows)


def table(header: Sequence[str], rows: Sequence[Sequence[object]], *, align: str) -> str:
    """Return aligned columns; ``align`` has ``r`` or ``l`` for the side each column is set to."""
    lines = [list(header), *([printable(cell) for cell in row] for row in rows)]
    wide = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(_line(cells, wide, align) for cells in lines)


def _line(cells: Sequence[str], wide: Sequence[int], align: str) -> str:
    set_cells = (
        cell.rjust(size) if side == "r" else cell.ljust(size)
        for cell, size, side in zip(cells, wide, align, strict=True)
    )
    return ("  " + "  ".join(set_cells)).rstrip()
