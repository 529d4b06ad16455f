"""Draw the eigenvalues around the threshold that separates communities from noise."""

from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups.plotting.axes import FAINT, INK, community_colors, new_axes

if TYPE_CHECKING:
    from kgroups.spectrum import Spectrum

__all__ = ["plot_spectrum"]


def plot_spectrum(spectrum: "Spectrum", *, ax: Any = None) -> Any:
    """Draw the eigenvalues of N_r around 1; those above it are the communities.

    Parameters
    ----------
    spectrum : Spectrum
        From ``partition.spectrum`` or ``kgroups.estimate_k(G)``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.
    """
    axes = new_axes(ax, (5.0, 3.6))
    values = np.sort(np.asarray(spectrum.eigenvalues, float))[::-1]
    above = np.arange(values.size) < spectrum.shown_above
    informative, noise = community_colors(2)[0], FAINT
    # Eigenvalues far above the threshold may be left out, so that the count starts before 1.
    rank = np.arange(1, values.size + 1) + max(spectrum.k - int(above.sum()), 0)
    if above.any() and not above.all():
        axes.axhspan(values[~above][0], values[above][-1], color=informative, alpha=0.10, lw=0)
    axes.axhline(1.0, color=INK, lw=1.0, ls=(0, (4, 3)), zorder=1)
    for mask, color in ((above, informative), (~above, noise)):
        axes.vlines(rank[mask], 1.0, values[mask], color=color, lw=1.2, alpha=0.6, zorder=2)
        axes.scatter(rank[mask], values[mask], s=44, color=color, edgecolors="white", zorder=3)
    axes.set_xlabel("rank", color=INK)
    axes.set_ylabel("eigenvalue of $N_r$", color=INK)
    number = f"k = {spectrum.k}"
    if not spectrum.is_exact:
        number = f"k about {spectrum.k} ({spectrum.k_low} to {spectrum.k_high})"
    axes.set_title(f"{number} above the threshold", color=INK, fontsize=12, loc="left")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(x=0.12, y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    return axes
