"""The visual style that all pictures share: inks, fonts, axes and small pictures for notebooks."""

import base64
import io
from collections.abc import Iterable
from typing import Any

import numpy as np

from kgroups._output import require_matplotlib
from kgroups._types import Floats, Ints
from kgroups.errors import InputError, MissingExtraError

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
# Any two of these differ by at least 22 units of CIELAB, in normal vision and as Machado et al.
# simulate protanopia and deuteranopia. The first three are colors of Okabe and Ito.
PALETTE = (
    "0072b2",
    "e69f00",
    "009e73",
    "881155",
    "77dddd",
    "cc5511",
    "bb77ff",
    "335522",
    "ee2255",
    "4433aa",
    "ddcc77",
    "aabbff",
)
# What readers with protanopia and deuteranopia see, in linear RGB (Machado, Oliveira and Fernandes,
# IEEE TVCG 15, 2009, at full severity), after normal vision.
_VISION = np.array(
    [
        np.eye(3),
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ]
)
# Linear RGB to XYZ under D65, the white of sRGB.
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
# Colors farther apart than the first cost nothing; closer than the second they cost no more.
_CLEAR, _CLOSEST = 20.0, 1.0
_SWEEPS = 20


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


def community_colors(k: int) -> Floats:
    """Return an RGB row for each of ``k`` communities, the largest first.

    Readers with color blindness can tell the first twelve apart; after these they repeat.

    Parameters
    ----------
    k : int
        Number of colors.

    Returns
    -------
    ndarray of shape (k, 3)
        From 0 to 1.

    Examples
    --------
    >>> community_colors(2).round(2)
    array([[0.  , 0.45, 0.7 ],
           [0.9 , 0.62, 0.  ]])
    """
    return rgb_of(*PALETTE)[np.arange(k) % len(PALETTE)].reshape(k, 3)


def palette_of(palette: Any, k: int) -> Floats:
    """Return the RGB rows of a palette as the caller gave it.

    Parameters
    ----------
    palette : None, str or iterable of colors
        The colors of the package; a colormap of matplotlib by its name; or colors that matplotlib
        knows.
    k : int
        Number of colors to take from a continuous colormap.
    """
    if palette is None:
        return rgb_of(*PALETTE)
    import matplotlib as mpl
    from matplotlib.colors import to_rgb

    if isinstance(palette, str):
        if palette not in mpl.colormaps:
            msg = (
                f"palette must be the name of a matplotlib colormap or several colors, got "
                f"{palette!r}.\n  list(matplotlib.colormaps) has the names."
            )
            raise InputError(msg)
        chosen: Any = mpl.colormaps[palette]
        # Colormaps of a few separate colors; the others have 256 that change gradually.
        separate = chosen.N < 64
        places = np.arange(chosen.N) if separate else np.linspace(0.0, 1.0, max(k, 1))
        return np.asarray(chosen(places))[:, :3]
    colors = list(palette) if isinstance(palette, Iterable) else []
    if not colors:
        msg = f"palette must hold at least one color, got {palette!r}."
        raise InputError(msg)
    rows = []
    for color in colors:
        try:
            rows.append(to_rgb(color))
        except ValueError as error:
            msg = f"palette must hold colors that matplotlib knows, got {color!r}."
            raise InputError(msg) from error
    return np.array(rows)


def colors_by_neighbors(palette: Floats, ends: Ints, weight: Floats, k: int) -> Ints:
    """Return which color of a palette each community gets, so that neighbors differ clearly.

    As many communities as there are colors take them in order. More communities repeat colors,
    where the sum over the pairs of the weight over the squared distance of the colors is small.

    Parameters
    ----------
    palette : ndarray of shape (p, 3)
        RGB rows.
    ends : ndarray of int, shape (m, 2)
        Pairs of communities that are neighbors; the weights of one pair add up.
    weight : ndarray
        How much it matters that the two differ.
    k : int
        Number of communities, the largest first.
    """
    if k <= len(palette):
        return np.arange(k)
    from scipy.sparse import coo_array

    apart = color_distances(palette)
    cost = np.where(apart < _CLEAR, 1.0 / np.maximum(apart, _CLOSEST) ** 2, 0.0)
    pairs = coo_array((weight, (ends[:, 0], ends[:, 1])), shape=(k, k)).tocsr()
    pairs = (pairs + pairs.T).tocsr()
    chosen = np.full(k, -1)
    used = np.zeros(len(palette))
    for _ in range(_SWEEPS):
        changed = False
        for a in range(k):
            row = slice(pairs.indptr[a], pairs.indptr[a + 1])
            others = chosen[pairs.indices[row]]
            known = others >= 0
            total = pairs.data[row][known] @ cost[others[known]]
            # Equal costs go to the color used least, so that all of them are used.
            best = int(np.lexsort((used, np.round(total, 12)))[0]) if known.any() else a % len(used)
            before = chosen[a]
            if before < 0 or total[best] < total[before] - 1e-12:
                chosen[a] = best
                used[best] += 1
                if before >= 0:
                    used[before] -= 1
                changed = True
        if not changed:
            break
    return np.asarray(chosen, np.int64)


def color_distances(colors: Floats) -> Floats:
    """Return the smallest CIELAB distance of all pairs of colors over the types of vision.

    Examples
    --------
    Pure red and green, 171 apart in normal vision, are 28 apart in deuteranopia.

    >>> color_distances(np.eye(3)).round()
    array([[  0.,  28., 143.],
           [ 28.,   0., 188.],
           [143., 188.,   0.]])
    """
    seen = _lab(np.einsum("vij,cj->vci", _VISION, _linear(colors)))
    return np.asarray(np.linalg.norm(seen[:, :, None] - seen[:, None], axis=-1).min(axis=0))


def luminance(colors: Floats) -> Floats:
    """Return the relative luminance of RGB rows, from 0 (black) to 1 (white)."""
    return np.asarray(_linear(colors) @ _TO_XYZ[1])


def _linear(colors: Floats) -> Floats:
    """Return linear RGB of sRGB."""
    return np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)


def _lab(linear: Floats) -> Floats:
    """Return CIELAB of linear RGB."""
    t = np.clip(linear, 0.0, 1.0) @ _TO_XYZ.T / _TO_XYZ.sum(axis=1)
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def rgb_of(*codes: str) -> Floats:
    """Return an RGB row for each code of six hexadecimal digits, with or without ``#``."""
    return np.array([list(bytes.fromhex(code.removeprefix("#"))) for code in codes]) / 255.0
