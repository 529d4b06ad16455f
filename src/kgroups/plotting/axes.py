"""Axes to draw on, and the colors that all pictures share."""

import colorsys
from typing import Any

import numpy as np

from kgroups._extras import install_hint
from kgroups._types import Floats
from kgroups.errors import MissingExtraError

__all__ = ["FAINT", "INK", "community_colors", "new_axes", "require_matplotlib"]

INK = "#26323d"
FAINT = "#9aa5b1"

# The colors of Okabe and Ito that stand out on white, told apart with any color vision.
_BASE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c6d1f", "#4b4b9e")
_SHADES = (1.0, 0.68, 1.38)


def require_matplotlib() -> None:
    """Raise an error that names the extra unless matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        msg = f"drawing needs matplotlib. {install_hint('plot')}"
        raise MissingExtraError(msg) from error


def new_axes(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new pyplot figure."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def community_colors(k: int) -> Floats:
    """Return an RGB row for each of ``k`` communities, the largest first.

    After eight colors the same hues come darker, then lighter; after twenty-four they repeat.
    """
    hexes = [base.lstrip("#") for base in _BASE]
    base = [[int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)] for text in hexes]
    rounds = []
    for shade in _SHADES:
        for rgb in base:
            hue, lightness, saturation = colorsys.rgb_to_hls(*rgb)
            rounds.append(colorsys.hls_to_rgb(hue, min(lightness * shade, 0.82), saturation))
    return np.array(rounds)[np.arange(k) % len(rounds)].reshape(k, 3)
