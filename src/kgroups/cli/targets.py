"""Files that a command is to write, checked before the long work starts."""

from collections.abc import Iterable
from pathlib import Path

from kgroups import datasets
from kgroups.errors import InputError

__all__ = ["check_files", "check_folder", "check_picture"]

_PICTURES = (".png", ".svg", ".pdf")


def check_picture(path: str | None) -> None:
    """Refuse a picture that could not be drawn: another ending, or no matplotlib."""
    if path is None:
        return
    if Path(path).suffix.lower() not in _PICTURES:
        msg = f"the name of a picture must end in {', '.join(_PICTURES)}; got {path!r}."
        raise InputError(msg)
    from kgroups.plotting.axes import require_matplotlib

    require_matplotlib()


def check_files(*paths: str | None, read: Iterable[str | Path] = ()) -> None:
    """Refuse folders, files whose folder is not there, and one file for two things.

    ``None`` stands for no file. ``read`` are the files that the command reads; links to one of them
    are refused like the file itself.
    """
    sources = [Path(path) for path in read]
    named: list[Path] = []
    for path in paths:
        if path is None:
            continue
        place = Path(path).resolve()
        if not place.parent.is_dir():
            msg = f"there is no folder {str(Path(path).parent)!r} to write {path!r} into."
            raise InputError(msg)
        if place.is_dir():
            msg = (
                f"{path!r} is a folder, no file can be written in its place.\n  Name another file."
            )
            raise InputError(msg)
        for source in sources:
            if _same_file(place, source):
                also = "" if path == str(source) else f" (as {str(source)!r})"
                msg = (
                    f"no result can be written to {path!r}: this file is read{also}, and would be "
                    "destroyed.\n  Name another file."
                )
                raise InputError(msg)
        if any(_same_file(place, other) for other in named):
            msg = f"two files of one name would overwrite each other, got {path!r} twice."
            raise InputError(msg)
        named.append(place)


def check_folder(path: str) -> None:
    """Refuse a folder for results that is a file, or holds data of known networks and tables."""
    folder = Path(path)
    if not folder.exists():
        return
    if not folder.is_dir():
        msg = f"--output must be a folder, {path!r} is a file."
        raise InputError(msg)
    known = (*datasets.describe(), *datasets.describe_tables())
    read = [source for entry in known for source in entry.paths]
    for place in folder.iterdir():
        if any(_same_file(place, source) for source in read):
            msg = (
                "--output must be a folder without data that the experiments read, "
                f"{path!r} holds {place.name!r}.\n  Name another folder."
            )
            raise InputError(msg)


def _same_file(place: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, also through links and if it is not there yet."""
    try:
        return place.samefile(other)
    except OSError:
        return place.resolve() == other.resolve()
