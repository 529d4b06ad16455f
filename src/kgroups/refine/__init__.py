"""Better labels: guarded Hartigan moves, and connected communities."""

from kgroups.refine.guarded import Hartigan, Refinement, refine_labels
from kgroups.refine.pieces import absorb_fragments, connected_pieces

__all__ = ["Hartigan", "Refinement", "absorb_fragments", "connected_pieces", "refine_labels"]
