"""Every check that scikit-learn makes of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kgroups import Spectral
from kgroups.backends.sklearn import GraphKGroups, KernelKGroups, KernelKMeans
from kgroups.energy import Exponential, Gaussian, Power

SEMIMETRICS = [Power(0.5), Exponential(2.0), Gaussian(1.0), "exponential", Gaussian("median")]
STARTS = ["k-means++", "random"]


def every_check(estimators):
    """Make a list of the checks, which scikit-learn 1.5 gives to pytest as a generator."""
    mark = parametrize_with_checks(estimators)
    names, checks = mark.args
    return pytest.mark.parametrize(names, list(checks), **mark.kwargs)


@every_check(
    [KernelKGroups(), KernelKMeans()]
    + [KernelKGroups(3, metric=metric, n_init=2) for metric in SEMIMETRICS]
    + [KernelKMeans(3, metric=metric, n_init=2) for metric in SEMIMETRICS]
    + [KernelKGroups(3, init=init, n_init=2) for init in STARTS]
)
def test_estimators_pass(estimator, check):
    check(estimator)


@every_check(
    [
        kind(2, metric=metric, n_init=2)
        for kind in (KernelKGroups, KernelKMeans)
        for metric in ("precomputed", "gram")
    ]
    + [
        GraphKGroups(),
        GraphKGroups(2),
        GraphKGroups(method=Spectral("exact"), refine=None, symmetrize="sum", self_loops="keep"),
    ]
)
def test_estimators_of_matrices_pass(estimator, check):
    if check.func.__name__ == "check_clustering":
        # It gives points of two columns to every clusterer, where check_nonsquare_error asks
        # those that take a matrix of all pairs to refuse them.
        with pytest.raises(ValueError, match=r"must be square|Negative values in data"):
            check(estimator)
    else:
        check(estimator)
