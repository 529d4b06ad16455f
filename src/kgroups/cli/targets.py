"""Files that a command is to write, checked before the long work starts."""

from pathlib import Path

from kgroups.errors import InputError

__all__ = ["check_files", "check_picture"]

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


def check_files(*paths: str | None) -> None:
    """Refuse folders, files whose folder is not there, and one file for two things.

    ``None`` stands for no file.
    """
    named: set[Path] = set()
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
        if place in named:
            msg = f"two files of one name would overwrite each other, got {path!r} twice."
            raise InputError(msg)
        named.add(place)
