"""The command line: parse, call, print, exit."""

import argparse
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

from kgroups._progress import interrupts_restored
from kgroups._wording import worded
from kgroups.cli.parser import EXIT_CODES, Flags, build_parser
from kgroups.errors import KGroupsError, KGroupsWarning

__all__ = ["EXIT_CODES", "main"]

_OK, _USER_ERROR, _INTERRUPTED, _BROKEN_PIPE, _TERMINATED = 0, 1, 130, 141, 143


class _Terminated(KeyboardInterrupt):
    """The process received SIGTERM."""


def main(
    argv: Sequence[str] | None = None,
    *,
    load_parser: Callable[[], argparse.ArgumentParser] | None = None,
    name: str = "kgroups",
) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.
    load_parser : callable, optional
        Returns another parser, whose arguments have a function ``run`` that takes them.
    name : str
        Name of the program in messages.

    Returns
    -------
    int
        0 when all went well, 1 for a user error (explained on stderr, without a traceback), 130
        when interrupted, 141 when the reader of the output went away, 143 when terminated. Wrong
        usage exits with 2.
    """
    with _usable_streams():
        try:
            with _sigterm_raised():
                _run(argv, load_parser)
        except KGroupsError as error:
            return _complain(name, str(error))
        except _Terminated:
            return _TERMINATED
        except KeyboardInterrupt:
            return _INTERRUPTED
        except BrokenPipeError:
            _abandon(sys.stdout)
            return _BROKEN_PIPE
        except OSError as error:
            place = f"{error.filename}: " if error.filename is not None else ""
            return _complain(name, f"{place}{error.strerror or error}")
    return _OK


def _run(
    argv: Sequence[str] | None, load_parser: Callable[[], argparse.ArgumentParser] | None
) -> None:
    try:
        args = (load_parser or build_parser)().parse_args(argv)
    finally:
        # Where the parser prints help and exits, a reader that went away is noticed now.
        sys.stdout.flush()
    with interrupts_restored(), worded(Flags(args)), warnings.catch_warnings():
        # The commands print the warnings of reports and spectra themselves.
        warnings.simplefilter("ignore", KGroupsWarning)
        args.run(args)
    sys.stdout.flush()


@contextmanager
def _usable_streams() -> Iterator[None]:
    """Replace closed streams by the null device; let the others print any node name."""
    with ExitStack() as stack:
        _reserve_descriptors()
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            if stream is None or stream.closed:
                null = stack.enter_context(Path(os.devnull).open("w"))
                stack.enter_context(redirect(null))
            elif hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        yield


def _reserve_descriptors() -> None:
    """Open the null device on closed descriptors of standard streams, also for child processes.

    They would otherwise go to the next files opened, which would get what libraries print.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free descriptor is taken, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003


@contextmanager
def _sigterm_raised() -> Iterator[None]:
    """Let SIGTERM raise as an interrupt does, so that nothing half-written stays behind."""

    def terminate(signum: int, frame: Any) -> NoReturn:
        # A second signal ends the process at once.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise _Terminated

    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        # Only the main thread may set handlers, and that of a caller stays.
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _complain(name: str, message: str) -> int:
    try:
        print(f"{name}: error: {message}", file=sys.stderr, flush=True)
    except OSError:
        _abandon(sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        _abandon(sys.stdout)
    return _USER_ERROR


def _abandon(stream: Any) -> None:
    """Send to the null device what the interpreter flushes at exit, which must not fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
