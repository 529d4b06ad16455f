"""Files that a command is to write, checked before the long work starts."""

from pathlib import Path

from kgroups.errors import InputError

__all__ = ["check_folders", "check_picture"]

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


def check_folders(*paths: str | None) -> None:
    """Refuse files whose folder is not there; ``None`` stands for no file."""
    for path in paths:
        if path is not None and not Path(path).resolve().parent.is_dir():
            msg = f"there is no folder {str(Path(path).parent)!r} to write {path!r} into."
            raise InputError(msg)
