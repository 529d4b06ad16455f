"""The paper's experiments on drawn vector data: data, methods, verdicts, small runs of each."""

import math
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from kgroups import metrics
from kgroups.energy import kernel_kmeans, kernel_matrix
from kgroups.errors import MissingExtraError
from kgroups.studies import Study
from reproduce import EXPERIMENTS, mixtures, published, reproduce
from reproduce.clustering import METHODS, association, plus_plus_labels, printed_kernel_kmeans
from reproduce.mixtures import LINE, PAIRS, UNEVEN, fingerprint
from reproduce.published import BAYES, Known
from reproduce.results import Comparison, verdict

MIXTURES = {
    "line": (LINE["normal"], None, 0.5),
    "gauss1": (PAIRS["gauss1"], 13, 0.5),
    "gauss2": (PAIRS["gauss2"], 13, 0.5),
    "twenty": (PAIRS["normal"], None, 0.5),
    "uneven": (UNEVEN, None, 1 / 6),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_moments_of_a_mixture(name):
    mixture, dimension, share = MIXTURES[name]
    n = 20_000
    points, z = mixture.draw(n, np.random.default_rng(0), dimension=dimension, share=share)
    # Five standard errors of a share, of a mean and of a variance.
    assert np.mean(z == 0) == pytest.approx(share, abs=5.0 * math.sqrt(share * (1 - share) / n))
    extra = (dimension or len(mixture.means[0])) - len(mixture.means[0])
    for group in (0, 1):
        mine = points.X[z == group]
        variances = np.append(mixture.variances[group], np.ones(extra))
        means = np.append(mixture.means[group], np.zeros(extra))
        error = 5.0 * np.sqrt(variances / len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - means) <= error)
        wide = 5.0 * variances * math.sqrt(2.0 / len(mine))
        assert np.all(np.abs(mine.var(axis=0) - variances) <= wide)


@pytest.mark.parametrize("draw", [mixtures.line, mixtures.many_points])
def test_lognormal_points_are_exponentials_of_normal_ones(draw):
    normal, z = draw("normal", 50, np.random.default_rng(3))
    lognormal, same = draw("lognormal", 50, np.random.default_rng(3))
    assert np.array_equal(z, same)
    assert np.allclose(np.log(lognormal.X), normal.X)


@pytest.mark.parametrize("seed", range(5))
def test_both_classes_are_there(seed):
    _, z = UNEVEN.draw(2, np.random.default_rng(seed), share=0.01)
    assert sorted(z.tolist()) == [0, 1]


def bayes_accuracy(mixture, share):
    points, z = mixture.draw(100_000, np.random.default_rng(1), share=share)
    log_densities = [
        np.log(weight)
        - 0.5 * (np.square(points.X - mean) / variance + np.log(variance)).sum(axis=1)
        for weight, mean, variance in zip(
            (share, 1.0 - share), mixture.means, np.array(mixture.variances), strict=True
        )
    ]
    return np.mean(np.argmax(log_densities, axis=0) == z)


# Known to three digits; a mean of 100,000 draws has a standard error of at most .0011.
@pytest.mark.parametrize(
    ("name", "share", "accuracy"),
    [
        *((name, 0.5, accuracy) for name, accuracy in BAYES.items()),
        ("uneven", 0.5, 0.900),
        ("uneven", 1 / 6, 0.943),
        ("uneven", 0.1, 0.961),
    ],
)
def test_accuracy_that_no_method_can_surpass(name, share, accuracy):
    assert bayes_accuracy(MIXTURES[name][0], share) == pytest.approx(accuracy, abs=0.004)


def test_unequal_classes_by_half_their_difference():
    points, z = mixtures.uneven(240, np.random.default_rng(0))
    assert points.X.shape == (300, 4)
    assert 10 <= np.sum(z == 0) <= 50


def test_clusters_on_a_grid():
    points, z = mixtures.grid(5, 1e-6, np.random.default_rng(0))
    assert np.bincount(z).tolist() == [10] * 5
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    for group, place in enumerate(places):
        assert np.allclose(points.X[z == group], place, atol=0.01)
    wide, z = mixtures.grid(400, 0.1, np.random.default_rng(0))
    spread = wide.X - np.column_stack([z // 20, z % 20])
    assert spread.var() == pytest.approx(0.1, abs=5.0 * 0.1 * math.sqrt(2.0 / spread.size))


def printed_to_the_letter(G, z, k, sweeps):
    """Algorithm 1, a point at a time."""
    z = z.copy()
    n = len(z)
    q = [G[np.ix_(z == a, z == a)].sum() for a in range(k)]
    with np.errstate(all="ignore"):
        for _ in range(sweeps):
            moved = False
            for i in range(n):
                size = np.bincount(z, minlength=k).astype(float)
                sums = np.array([G[i, z == a].sum() for a in range(k)])
                b = int(np.argmin(np.array(q) / size**2 - 2.0 * sums / size))
                a = z[i]
                if a != b:
                    q[a] -= 2.0 * sums[a]
                    q[b] += 2.0 * sums[b]
                    z[i], moved = b, True
            if not moved:
                break
    return z


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(6, 40))
def test_kernel_kmeans_as_printed_is_algorithm_1(seed, k, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    G = kernel_matrix(X)
    start = np.append(np.arange(k), rng.integers(k, size=n - k))
    # Few sweeps: where groups run empty, rounding decides in the end.
    found = printed_kernel_kmeans(G, start, k=k, max_sweeps=2)
    assert np.array_equal(found, printed_to_the_letter(G, start, k, 2))


def test_kernel_kmeans_as_printed_degenerates_and_warns_nobody():
    points, truth = mixtures.grid(49, 0.1, np.random.default_rng(0))
    start = plus_plus_labels(points.X, 49, np.random.default_rng(1))
    G = kernel_matrix(points.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed = printed_kernel_kmeans(G, start, k=49, max_sweeps=20)
    exact = kernel_kmeans(G, 49, metric="gram", init=start).labels
    assert metrics.accuracy(truth, printed) < 0.4
    assert metrics.accuracy(truth, exact) > 0.55


@given(st.integers(0, 10_000))
def test_association_of_labels(seed):
    rng = np.random.default_rng(seed)
    X, z = rng.standard_normal((8, 2)), rng.integers(3, size=8)
    expected = sum(
        (X[z == a] @ X[z == a].T).sum() / np.sum(z == a) for a in range(4) if np.any(z == a)
    )
    assert association(X @ X.T, z, 4) == pytest.approx(expected)


@pytest.mark.parametrize("name", METHODS)
def test_methods_find_clear_classes_and_repeat_themselves(name):
    points, truth = PAIRS["gauss1"].draw(60, np.random.default_rng(0))
    far = type(points)(points.X + 40.0 * truth[:, None] + 1.0)
    first, second = (METHODS[name](far, 2, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first, second)
    assert metrics.accuracy(truth, first) == 1.0


def test_best_of_five_starts_is_no_worse_than_the_first():
    points, _ = PAIRS["gauss2"].draw(100, np.random.default_rng(0), dimension=200)
    G = kernel_matrix(points.X)
    for several, one in (
        ("k-groups", "k-groups x1"),
        ("kernel k-means", "kernel k-means x1"),
        ("as printed", "as printed x1"),
    ):
        best, first = (
            association(G, METHODS[name](points, 2, np.random.default_rng(1)), 2)
            for name in (several, one)
        )
        assert best >= first - 1e-9


def test_fingerprint_ignores_names_only():
    labels = np.array([2, 0, 0, 1, 2])
    assert fingerprint(None, labels) == fingerprint(None, np.array([0, 5, 5, 3, 0]))
    assert fingerprint(None, labels) != fingerprint(None, np.array([2, 0, 1, 1, 2]))


def around(mean, sd, n):
    """Return n values with this mean and standard deviation."""
    values = np.resize([-1.0, 1.0], n)
    return mean + sd * values / values.std(ddof=1)


# With n = 100 on both sides and sd .1 two standard errors of the difference are .0283.
@pytest.mark.parametrize(
    ("mean", "known", "word"),
    [
        (0.827, Known(0.8, None), "reproduced"),
        (0.830, Known(0.8, None), "above"),
        (0.770, Known(0.8, None), "below"),
        (0.770, Known(0.8, 0.75), "reproduced"),
        (0.840, Known(0.8, 0.9), "above"),
        (0.870, Known(0.8, 0.9), "below"),
        (0.830, Known(0.8, None, runs=20), "reproduced"),
        (0.900, Known(0.8, None, printed_runs=1), "reproduced"),
        (0.830, Known(0.8, None, sd=0.2), "reproduced"),
        (0.825, Known(0.8, None, sd=0.01), "above"),
    ],
)
def test_verdict_within_two_standard_errors(mean, known, word):
    assert verdict(around(mean, 0.1, 100), known) == word


def test_one_run_has_no_verdict():
    assert verdict(np.array([0.8]), Known(0.8, 0.8)) == "one run has no standard error"


def toy_comparison():
    rows = tuple(
        {"m": m, "trial": trial, "method": method, "k_given": True, "accuracy": value}
        for m, means in ((0, {"k-groups": 0.8, "other": 0.6}), (1, {"k-groups": 0.7, "other": 0.7}))
        for method, mean in means.items()
        for trial, value in enumerate(around(mean, 0.01, 10))
    )
    values = {(0,): {"k-groups": Known(0.8, None), "other": Known(0.9, 0.6)}}
    return Comparison(Study(("m",), ("accuracy",), rows), values)


def test_lines_put_known_values_beside_ours():
    compared = toy_comparison()
    assert compared.columns == ("m", "[k-groups]", "k-groups", "[other]", "other", "verdict")
    first, second = compared.lines()
    assert (first[1], first[3]) == (0.8, 0.9)
    assert first[2].mean == pytest.approx(0.8)
    assert first[-1] == "reproduced"
    assert second[1] is None
    assert second[-1] == "no value to compare with"


def test_a_claim_names_what_does_not_agree():
    compared = toy_comparison()
    agreed = compared.claim("all agree", methods=lambda method: True)
    assert agreed.holds
    assert agreed.seen == "2 of 2"
    far = {(0,): {"k-groups": Known(0.7, None), "other": Known(0.9, None)}}
    claim = Comparison(compared.study, far).claim("all agree", methods=lambda method: True)
    assert not claim.holds
    assert claim.seen == "0 of 2; k-groups above at 0; other below at 0"


def column(finding, name):
    place = finding.columns.index(name)
    return [line_[place] for line_ in finding.lines]


SMALL = {
    "gauss1d": ({"sizes": (100,)}, ["exact", "spectral", "as printed", "= exact"]),
    "gauss-dim": ({"dimensions": {"gauss1": (10,), "gauss2": (210,)}}, ["k-groups x1"]),
    "gauss-n": ({"sizes": (100,)}, ["k-groups rho1/2", "k-groups rho1", "as printed x1"]),
    "many-clusters": ({"numbers": (4, 9)}, ["kernel k-means x1"]),
    "unbalanced": ({"half_differences": (0, 240)}, ["k-groups x1"]),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_run_of_an_experiment(name, tmp_path):
    settings, extra = SMALL[name]
    finding = EXPERIMENTS[name](2, **settings, progress=False)
    for method in ("k-groups", "kernel k-means", "as printed", "k-means", "GMM", "spectral"):
        for mean in column(finding, method):
            assert 0.0 < mean.mean <= 1.0
    assert set(extra) <= set(finding.columns)
    assert len(finding.study) == len(finding.lines) * 2 * len(finding.study.methods)
    assert finding.columns[-1] == "verdict"
    assert finding.claims
    written = [path.name for path in finding.save(tmp_path)]
    assert written[:2] == [f"{name}.csv", f"{name}-trials.csv"]
    assert written[2] == f"{name}.png"


def test_results_do_not_depend_on_the_number_of_processes():
    alone, together = (
        mixtures.unbalanced(2, half_differences=(0, 240), n_jobs=jobs, progress=False)
        for jobs in (1, 2)
    )
    assert alone.lines == together.lines


def test_known_values_belong_to_cells_that_are_run():
    cells = {
        "LINE": [(data, n) for data in mixtures.DISTRIBUTIONS for n in mixtures.LINE_SIZES],
        "DIMENSION": [(data, D) for data, all_ in mixtures.DIMENSIONS.items() for D in all_],
        "POINTS": [(data, n) for data in mixtures.DISTRIBUTIONS for n in mixtures.SAMPLE_SIZES],
        "CLUSTERS": [(v, k) for v in mixtures.VARIANCES for k in mixtures.CLUSTER_NUMBERS],
        "UNEVEN": [(m,) for m in mixtures.HALF_DIFFERENCES],
    }
    for name, run in cells.items():
        assert set(getattr(published, f"{name}_ACCURACIES")) <= set(run)


@pytest.mark.compiled
def test_densities_are_drawn():
    figure = mixtures.draw_densities()
    assert isinstance(figure, Figure)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["normal", "lognormal"]
    # A curve for each class of three methods.
    assert [len(axes.get_lines()) for axes in figure.axes] == [6, 6]


@pytest.mark.parametrize("name", SMALL)
def test_experiments_name_the_extra_they_need(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[sklearn\]"'):
        reproduce(name, trials=1, progress=False)
