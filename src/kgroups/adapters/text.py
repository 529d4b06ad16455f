"""What the readers of files share: options, numbered lines, node names, errors with the place."""

import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from kgroups._types import Symmetrize
from kgroups.errors import FileFormatError, KGroupsError

if TYPE_CHECKING:
    from kgroups.adapters.compression import Limit

__all__ = [
    "ReadOptions",
    "all_integers",
    "check_claim",
    "format_error",
    "named_as_in_file",
    "numbered_lines",
    "parsing",
    "plain_number",
    "too_many_digits",
]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NODES_ALWAYS_BELIEVED = 10_000_000
_NODES_PER_ENTRY = 1_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class ReadOptions:
    """What the caller asks of a file; see :func:`kgroups.read_graph`."""

    weight: str | None
    symmetrize: Symmetrize | None
    source: str | None
    target: str | None
    limit: "Limit"


def format_error(name: str, line: int | None, problem: str, hint: str) -> FileFormatError:
    """Return the error for a file, with the line where there is one."""
    place = name if line is None else f"{name}, line {line}"
    return FileFormatError(f"{place}: {problem}.\n  {hint}")


def numbered_lines(file: Iterable[bytes], name: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number from 1; every kind of line end counts as one."""
    number = 0
    for raw in file:
        for line in raw.splitlines():
            number += 1
            part = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            try:
                yield number, part.decode("utf-8")
            except UnicodeDecodeError as error:
                raise format_error(
                    name, number, f"text must be UTF-8, {error.reason}", "Save the file as UTF-8."
                ) from None


def named_as_in_file(labels: Sequence[object], file: BinaryIO, name: str) -> Sequence[Hashable]:
    """Return integers if every label is one in plain notation, else the labels as text.

    Python reads integers of a limited number of digits; one with more is an error with its line.
    """
    texts = [label if isinstance(label, str) else str(label) for label in labels]
    if not all_integers(texts):
        return texts
    try:
        return [int(text) for text in texts]
    except ValueError:
        longest = max(texts, key=len)
    file.seek(0)
    lines = (number for number, line in numbered_lines(file, name) if longest in line)
    raise too_many_digits(name, next(lines, None), longest)


def too_many_digits(name: str, line: int | None, number: str) -> FileFormatError:
    """Return the error for an integer that is longer than Python reads."""
    problem = (
        f"a whole number must have at most {sys.get_int_max_str_digits()} digits, got "
        f"{len(number.lstrip('+-'))}"
    )
    hint = "Shorten this name, or let all names begin with a letter, so that they are text."
    return format_error(name, line, problem, hint)


def plain_number(text: str) -> float:
    """Return a number in plain notation; ``float`` alone would read ``1_0`` as ten."""
    if "_" in text or not text.isascii():
        msg = f"not a number: {text!r}"
        raise ValueError(msg)
    return float(text)


def all_integers(texts: Iterable[str]) -> bool:
    """Whether each text is an integer in plain notation, so that ``007`` stays a name."""
    return all(map(_INTEGER.fullmatch, texts))


def check_claim(name: str, n: int, entries: int) -> None:
    """Refuse a small file that claims so many nodes that they would fill the memory."""
    if n > _NODES_ALWAYS_BELIEVED and n > _NODES_PER_ENTRY * (entries + 1):
        problem = f"the file claims {n} nodes but has {entries} entries"
        raise format_error(name, None, problem, "Number the nodes without such gaps.")


@contextmanager
def parsing(name: str, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises on a broken file into a FileFormatError."""
    try:
        yield
    except (KGroupsError, OSError, EOFError):
        raise
    except MemoryError as error:
        hint = "Check the sizes that its header claims."
        raise format_error(name, None, f"the {kind} file does not fit in memory", hint) from error
    except Exception as error:
        where = re.search(r"\((\d+), \d+\)|[Ll]ine (\d+)", str(error))
        line = int(where[1] or where[2]) if where else None
        detail = str(error).rstrip(".") or type(error).__name__
        problem = f"the file must be valid {kind}, but: {detail}"
        raise format_error(name, line, problem, "Check that the file is whole.") from error
