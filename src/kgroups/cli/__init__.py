"""The command line: parse, call, print, exit."""

import os
import sys
from collections.abc import Sequence

from kgroups.cli.parser import build_parser
from kgroups.errors import KGroupsError

__all__ = ["main"]

_OK, _USER_ERROR, _INTERRUPTED, _BROKEN_PIPE = 0, 1, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        0 when all went well, 1 for a user error (told on stderr, without a traceback), 130 when
        interrupted, 141 when the reader of the output went away. Wrong usage exits with 2.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a node name shows its code instead.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    args = build_parser().parse_args(argv)
    try:
        args.run(args)
        sys.stdout.flush()
    except KGroupsError as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _complain(f"{place}{error.strerror or error}")
    return _OK


def _complain(message: str) -> int:
    print(f"kgroups: error: {message}", file=sys.stderr)
    return _USER_ERROR
