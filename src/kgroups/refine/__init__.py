"""Better labels: guarded Hartigan moves, and splits and merges by description length."""

from kgroups.refine.description import DescriptionLength
from kgroups.refine.guarded import Hartigan, Refinement, refine_labels
from kgroups.refine.pieces import absorb_fragments, connected_pieces
from kgroups.refine.splitting import Rearranged, merge_communities, split_communities

__all__ = [
    "DescriptionLength",
    "Hartigan",
    "Rearranged",
    "Refinement",
    "absorb_fragments",
    "connected_pieces",
    "merge_communities",
    "refine_labels",
    "split_communities",
]
