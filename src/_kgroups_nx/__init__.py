"""What networkx asks of a backend while networkx itself is being imported.

This package stands apart so that ``import networkx`` loads nothing of kgroups, numpy or scipy.
"""

from _kgroups_nx.info import get_info

__all__ = ["get_info"]
