"""A partition as one HTML file: graph, spectrum, scores and communities, without the network."""

from kgroups.page.document import check_page, page_content

__all__ = ["check_page", "page_content"]
