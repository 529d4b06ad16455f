"""How much two partitions of the same nodes agree, and where they differ."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._html import html_beside, html_facts, html_lines, html_table
from kgroups._wording import counted, counted_communities

if TYPE_CHECKING:
    from kgroups.partition.partition import Partition

# Pairs of communities that a notebook shows.
_MOST_ROWS = 8


@dataclass(frozen=True, eq=False)
class Comparison:
    """Agreement of two partitions, from :meth:`kgroups.Partition.compare`.

    Attributes
    ----------
    partition, other : Partition
        What was compared; the nodes of ``other`` are in the order of ``partition``.
    ami, nmi, ari : float
        Adjusted mutual information, normalized mutual information and adjusted Rand index: 1 for
        equal partitions; 0 is what chance gives for the adjusted ones.
    variation_of_information : float
        In nats; 0 for equal partitions.
    matched : float
        Share of the nodes in pairs of communities, one from each side, that are matched best.
    """

    partition: "Partition"
    other: "Partition"
    ami: float
    nmi: float
    ari: float
    variation_of_information: float
    matched: float

    def flows(self) -> list[dict[str, int]]:
        """Return how many nodes each pair of communities has in common.

        Returns
        -------
        list of dict
            ``community``, ``other`` and ``nodes`` of each pair that shares nodes, the largest
            first. ``pandas.DataFrame`` takes the list as it is.
        """
        k = max(self.other.k, 1)
        codes, nodes = np.unique(self.partition.labels * k + self.other.labels, return_counts=True)
        first, second = np.divmod(codes, k)
        order = np.lexsort((second, first, -nodes))
        columns = (first[order].tolist(), second[order].tolist(), nodes[order].tolist())
        return [
            {"community": a, "other": b, "nodes": count}
            for a, b, count in zip(*columns, strict=True)
        ]

    def plot(self, ax: Any = None, *, names: tuple[str, str] = ("", ""), **options: Any) -> Any:
        """Draw the nodes flowing from the communities of one partition to those of the other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        names : tuple of two str
            Written above the two sides.
        **options
            ``palette`` and ``title`` of :func:`kgroups.plotting.plot_alluvial`.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        from kgroups.plotting import plot_alluvial

        return plot_alluvial(self.partition, self.other, ax=ax, names=names, **options)

    def _scores(self) -> list[tuple[str, float]]:
        return [
            ("AMI", self.ami),
            ("NMI", self.nmi),
            ("adjusted Rand index", self.ari),
            ("variation of information", self.variation_of_information),
            ("matched nodes", self.matched),
        ]

    def _headline(self) -> str:
        sides = " against ".join(
            counted_communities(each.k, each._single) for each in (self.partition, self.other)
        )
        return f"{sides} of {counted(self.partition.labels.size, 'node')}"

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {value:.3f}" for name, value in self._scores())
        return f"Comparison({self._headline()}: {scores})"

    def _repr_html_(self) -> str:
        flows = self.flows()
        rows = [tuple(flow.values()) for flow in flows[:_MOST_ROWS]]
        shared = html_table(["community", "other", "nodes"], rows)
        if len(flows) > _MOST_ROWS:
            shared += html_lines([f"and {len(flows) - _MOST_ROWS} more pairs"])
        picture = ""
        from kgroups.plotting.style import has_matplotlib, inline_image, small_figure

        if has_matplotlib():
            axes = small_figure()
            self.plot(axes)
            picture = inline_image(axes.figure, f"Alluvial view: {self._headline()}")
        heading = html_lines([self._headline()])
        return heading + html_beside(html_facts(self._scores()), shared, picture)


def compared(partition: "Partition", other: "Partition") -> Comparison:
    """Return the comparison of two partitions whose nodes are in the same order."""
    from kgroups.metrics import accuracy, ami, ari, nmi, variation_of_information

    pair = (partition.labels, other.labels)
    return Comparison(
        partition,
        other,
        ami=ami(*pair),
        nmi=nmi(*pair),
        ari=ari(*pair),
        variation_of_information=variation_of_information(*pair),
        matched=accuracy(*pair),
    )
