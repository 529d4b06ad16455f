"""A partition as one HTML file: graph, spectrum, scores and communities, without the network."""

from kgroups.page.document import page_content

__all__ = ["page_content"]
