"""How the gallery looks: the style of its pictures, and the order of its examples."""

import matplotlib.pyplot as plt
from sphinx_gallery.sorting import ExampleTitleSortKey

from kgroups import plotting

# The examples that a reader should see first in each section; the others follow by title.
FIRST = (
    "plot_karate.py",
    "plot_novel.py",
    "plot_small_communities.py",
    "plot_lfr.py",
    "plot_phase_transition.py",
    "plot_random_graphs.py",
    "plot_real_networks.py",
    "plot_networkx_plugin.py",
)


def use_style(gallery_conf, fname):
    """Set the style of the next example, from matplotlib's defaults."""
    plt.rcdefaults()
    with plotting.style():
        settings = dict(plt.rcParams)
    plt.rcParams.update(settings | {"figure.dpi": 110, "savefig.dpi": 160})


class Order(ExampleTitleSortKey):
    """Sort key of an example: its place in FIRST, then its title."""

    def __call__(self, filename):
        place = FIRST.index(filename) if filename in FIRST else len(FIRST)
        return f"{place:02d} {super().__call__(filename)}"
