"""The visual style that all pictures share: inks, fonts, axes and small pictures for notebooks."""

import base64
import io
from typing import Any

from kgroups._wording import install_hint
from kgroups.errors import InputError, MissingExtraError
from kgroups.plotting.colors import PALETTE

# Colors of text and axes, and of what stays in the background.
INK, FAINT = "#26323d", "#9aa5b1"
# Larger drawings are rasterized, because vector files with more shapes are slow to open.
MAX_VECTOR_SHAPES = 5000
TITLE_SIZE, TEXT_SIZE, SMALL_SIZE = 12, 10, 8

_SETTINGS: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": TITLE_SIZE,
    "figure.constrained_layout.use": True,
    "font.size": TEXT_SIZE,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "image.cmap": "cividis",
    "legend.fontsize": SMALL_SIZE,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "legend.title_fontsize": SMALL_SIZE,
    "lines.linewidth": 1.4,
    "lines.markersize": 5.0,
    "svg.hashsalt": "kgroups",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def require_matplotlib() -> None:
    """Raise an error that names the extra unless matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        msg = f"drawing needs matplotlib. {install_hint('plot')}"
        raise MissingExtraError(msg) from error


def style() -> Any:
    """Return a context in which matplotlib draws as the pictures of this package.

    Returns
    -------
    context manager
        ``matplotlib.rc_context`` with the fonts, axes and colors of the package; all settings are
        restored at its end.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> with style():
    ...     axes = Figure().subplots()
    >>> axes.spines["top"].get_visible()
    False
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.rcsetup import cycler

    cycle = cycler("color", [f"#{code}" for code in PALETTE])
    return mpl.rc_context({**_SETTINGS, "axes.prop_cycle": cycle})


def axes_for(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new pyplot figure in the style of the package."""
    require_matplotlib()
    if ax is not None:
        if not hasattr(ax, "get_window_extent"):
            msg = (
                f"ax must be axes of matplotlib, got {ax!r}.\n"
                "  To write a picture to a file, call partition.plot().figure.savefig(path)."
            )
            raise InputError(msg)
        return ax
    from matplotlib import pyplot

    # Outside of the context, whose end would undo what the backend sets when it is first used:
    # that of notebooks sets ``interactive``.
    figure = pyplot.figure(figsize=figsize, layout="constrained")
    with style():
        return figure.subplots()


def dress(axes: Any, title: str | None = None, *, above: float = 0.0) -> None:
    """Give axes from anywhere the style of the package; the title ``above`` points higher."""
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(INK)
    axes.tick_params(colors=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_color(INK)
    write_title(axes, title, above=above)


def write_title(axes: Any, title: str | None, *, above: float = 0.0) -> None:
    """Write a title, as it is, above the left corner."""
    if title is not None:
        font = {"color": INK, "fontsize": TITLE_SIZE, "parse_math": False}
        axes.set_title(title, loc="left", pad=6.0 + above, **font)


def has_matplotlib() -> bool:
    """Return whether pictures can be drawn."""
    try:
        require_matplotlib()
    except MissingExtraError:
        return False
    return True


def small_figure() -> Any:
    """Return the axes of a new figure of the size of a notebook, not managed by pyplot."""
    from matplotlib.figure import Figure

    with style():
        return Figure(figsize=(3.8, 2.8)).subplots()


def inline_image(figure: Any, description: str) -> str:
    """Return a figure as an HTML image that holds its own data."""
    from html import escape

    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=144)
    data = base64.b64encode(content.getvalue()).decode()
    width = round(figure.get_figwidth() * 96)
    return f'<img width="{width}" alt="{escape(description)}" src="data:image/png;base64,{data}"/>'
