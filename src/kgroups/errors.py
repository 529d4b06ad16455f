"""Errors, which say what must hold, what came and what to do, and warnings."""

import sys
import warnings
from collections.abc import Iterable

__all__ = [
    "ClusterError",
    "ContinuumWarning",
    "ConvergenceError",
    "ConvergenceWarning",
    "CrowdedThresholdWarning",
    "DirectedGraphError",
    "DisassortativeWarning",
    "FileFormatError",
    "GraphError",
    "InputError",
    "InstabilityWarning",
    "KGroupsError",
    "KGroupsWarning",
    "MissingExtraError",
    "NumberOfCommunitiesError",
    "PartitionError",
    "StoreError",
    "WeightError",
]


class KGroupsError(Exception):
    """Base of every error that kgroups raises on purpose."""


class InputError(KGroupsError, ValueError):
    """An argument does not have the required form."""


class GraphError(InputError):
    """The graph itself cannot be used: not square, not symmetric, of no known type."""


class DirectedGraphError(GraphError):
    """The graph is directed and the caller did not say how to make it undirected."""


class WeightError(GraphError):
    """An edge weight is missing, not a number, not finite or negative."""


class FileFormatError(GraphError):
    """A file could not be read; the message names the file and, where it can, the line."""


class PartitionError(InputError):
    """A partition does not fit the graph: a node is missing, repeated or unknown."""


class StoreError(InputError):
    """A store on disk is damaged, in use, of other edges, or has no room."""


class ClusterError(KGroupsError, RuntimeError):
    """A Dask cluster has lost its scheduler, or one worker after the other."""


class NumberOfCommunitiesError(InputError):
    """The number of communities ``k`` is not a whole number from 1 to the number of nodes."""


class MissingExtraError(KGroupsError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class ConvergenceError(KGroupsError, RuntimeError):
    """An eigensolver stopped before it found all requested eigenpairs."""


class KGroupsWarning(UserWarning):
    """Base of every warning that kgroups issues; reports and spectra list them too."""


class ContinuumWarning(KGroupsWarning):
    """Communities look like patches of a continuum, whose borders could as well lie elsewhere."""


class ConvergenceWarning(KGroupsWarning):
    """The refinement of labels stopped before it converged."""


class CrowdedThresholdWarning(KGroupsWarning):
    """Eigenvalues crowd the threshold, so that the number of communities is uncertain."""


class DisassortativeWarning(KGroupsWarning):
    """Eigenvalues of N_r below -1: groups whose nodes avoid one another, as in bipartite graphs."""


class InstabilityWarning(KGroupsWarning):
    """Nodes that are certain given the model leave their communities without some of the edges."""


def warn_caller(issued: Iterable[KGroupsWarning]) -> None:
    """Issue warnings at the line that called kgroups, however deep in kgroups this is called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "kgroups":
        frame, level = frame.f_back, level + 1
    for warning in issued:
        warnings.warn(warning, stacklevel=level)
