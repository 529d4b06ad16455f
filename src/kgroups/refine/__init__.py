"""Better labels: guarded Hartigan moves, and splits and merges by description length."""

from kgroups.refine.description import DescriptionLength
from kgroups.refine.guarded import Hartigan, Refinement, refine_labels
from kgroups.refine.pieces import absorb_fragments, connected_pieces
from kgroups.refine.splitting import split_and_merge

__all__ = [
    "DescriptionLength",
    "Hartigan",
    "Refinement",
    "absorb_fragments",
    "connected_pieces",
    "refine_labels",
    "split_and_merge",
]
