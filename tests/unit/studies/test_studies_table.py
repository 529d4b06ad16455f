"""The table of a study: summary, files, figure."""

import math
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from kgroups.errors import FileFormatError, InputError, MissingExtraError
from kgroups.studies import Study, plot_study


def study_of(scores, parameters=None, k_given=(True, True)):
    parameters = parameters or [{"k": 2, "snr": 0.5}, {"k": 2, "snr": 1.5}]
    rows = [
        {
            **cell,
            "trial": trial,
            "method": method,
            "k_given": given,
            "overlap": float(score) if given else math.nan,
            "nmi": 0.1,
            "ami": 0.2,
            "k_hat": 2,
            "seconds": 0.25,
            "seed": 2**62 + trial,
        }
        for cell in parameters
        for trial, score in enumerate(scores)
        for method, given in zip(("first", "second"), k_given, strict=True)
    ]
    return Study(tuple(parameters[0]), ("overlap", "nmi", "ami"), tuple(rows))


@pytest.fixture
def study():
    return study_of(np.random.default_rng(0).random(7))


def test_summary_is_that_of_scipy(study):
    lines = study.summary()
    assert len(lines) == 2 * 2 * 3
    line = lines[0]
    values = study.values("overlap", method="first", k=2, snr=0.5)
    low, high = stats.t.interval(0.95, 6, values.mean(), stats.sem(values))
    assert (line["method"], line["metric"], line["trials"]) == ("first", "overlap", 7)
    expected = [values.mean(), values.std(ddof=1), stats.sem(values), low, high]
    assert [line[name] for name in ("mean", "sd", "se", "low", "high")] == pytest.approx(expected)


def test_one_trial_has_no_spread():
    line = study_of([0.5]).summary()[0]
    assert line["mean"] == 0.5
    assert all(math.isnan(line[name]) for name in ("sd", "se", "low", "high"))


def test_pandas(study):
    frame = study.to_pandas()
    assert list(frame.columns) == list(study.columns)
    assert frame.to_dict("records") == list(study.rows)
    assert len(pd.DataFrame(study.summary())) == 12


def test_pandas_that_is_not_installed(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r'to_pandas needs pandas.*"\.\[study\]"'):
        study.to_pandas()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize(
    "cell", [{"k": 2, "snr": 0.1}, {"law": "power", "loops": True, "cap": None}]
)
def test_a_saved_study_comes_back(tmp_path, suffix, cell):
    study = study_of([0.1, 1 / 3], [cell])
    path = tmp_path / f"study{suffix}"
    study.save(path)
    again = Study.load(path)
    assert again.rows == study.rows
    assert (again.parameters, again.metrics) == (study.parameters, study.metrics)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_saved_study_knows_who_was_given_k(tmp_path, suffix):
    study_of([0.1, 0.2], k_given=(True, False)).save(tmp_path / f"study{suffix}")
    again = Study.load(tmp_path / f"study{suffix}")
    assert again.methods_given_k == ("first",)
    assert np.isnan(again.values("overlap", method="second")).all()
    assert again.values("overlap", method="first", snr=0.5).tolist() == [0.1, 0.2]


def test_pandas_reads_the_file(study, tmp_path):
    study.save(tmp_path / "study.csv")
    # Older releases of pandas read the last digit of a number wrongly.
    read = pd.read_csv(tmp_path / "study.csv")
    pd.testing.assert_frame_equal(read, study.to_pandas(), rtol=1e-14)


def test_a_failed_save_leaves_the_old_file(study, tmp_path, monkeypatch):
    path = tmp_path / "study.csv"
    path.write_text("old")

    def full_disk(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        study.save(path)
    assert [each.name for each in tmp_path.iterdir()] == ["study.csv"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"n,k\n1,2\n", "it has no column 'trial'"),
        ("a.csv", b"trial,method\n1\n", "does not hold a study"),
        ("a.csv.gz", b"plain", "does not hold a study"),
        ("a.csv", b"\xff\xfe\xff", "does not hold a study"),
        ("a.parquet", b"plain", "does not hold a study"),
    ],
)
def test_files_that_hold_no_study(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        Study.load(tmp_path / name)


def test_file_of_unknown_kind(study, tmp_path):
    with pytest.raises(InputError, match=r"must end in .csv, .csv.gz, .parquet; got 'study.xlsx'"):
        study.save("study.xlsx")


def test_parquet_without_pyarrow(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[parquet\]"'):
        study.save("study.parquet")


def test_repr(study):
    assert repr(study) == (
        "Study(28 rows: 2 cells over k, snr; methods first, second; metrics overlap, nmi, ami)"
    )


def test_methods_are_compared_by_ami_where_one_was_not_given_k(study):
    assert study.default_metric == "overlap"
    mixed = study_of([0.5], k_given=(True, False))
    assert mixed.default_metric == "ami"
    assert study_of([0.5], k_given=(False, False)).default_metric == "ami"
    without = Study(mixed.parameters, ("overlap", "nmi"), mixed.rows)
    assert without.default_metric == "nmi"


@pytest.fixture
def close_figures():
    yield
    pyplot.close("all")


def labeled(axes):
    return {line.get_label(): line for line in axes.get_lines()}


@pytest.mark.usefixtures("close_figures")
def test_plot_returns_axes_and_opens_one_figure(study):
    """In a notebook a returned Figure that pyplot also shows would be there twice."""
    before = set(pyplot.get_fignums())
    axes = study.plot()
    assert isinstance(axes, Axes)
    assert set(pyplot.get_fignums()) - before == {axes.figure.number}


@pytest.mark.usefixtures("close_figures")
def test_figure_shades_what_cannot_be_detected(study):
    axes = study.plot()
    lines = labeled(axes)
    assert lines["first"].get_xdata().tolist() == [0.5, 1.5]
    means = [line["mean"] for line in study.summary() if line["metric"] == "overlap"]
    assert lines["first"].get_ydata().tolist() == means[::2]
    assert any(line.get_xdata()[0] == 1.0 for line in lines.values())
    shaded = [patch for patch in axes.patches if patch.get_label() == "undetectable"]
    extents = shaded[0].get_path().get_extents(shaded[0].get_patch_transform())
    assert (extents.x0, extents.x1) == (0.0, 1.0)
    assert axes.get_xlabel() == "signal-to-noise ratio"
    assert axes.get_ylabel() == "overlap (k given)"
    assert axes.get_legend().get_title().get_text() == ""


@pytest.mark.parametrize("ratios", [(0.25, 2.0), (0.9, 2.0), (0.1, 1.1), (1.0, 1.5), (1.5, 2.0)])
@pytest.mark.parametrize("long", [False, True])
def test_the_threshold_does_not_cross_the_text_of_the_legend(ratios, long):
    rows = study_of([0.5, 0.6], [{"snr": snr} for snr in ratios]).rows
    names = {"first": "first", "second": "second, with a name that is longer" if long else "second"}
    renamed = tuple({**row, "method": names[row["method"]]} for row in rows)
    axes = plot_study(Study(("snr",), ("overlap",), renamed), pyplot=False)
    axes.figure.draw_without_rendering()
    legend = axes.get_legend()
    box, frame = legend.get_window_extent(), legend.get_frame()
    assert legend.get_frame_on()
    assert frame.get_alpha() == 1.0
    assert axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1


def test_figure_marks_who_was_given_k():
    axes = Figure().subplots()
    study_of([0.5, 0.6], k_given=(False, True)).plot(axes)
    lines = labeled(axes)
    assert {"first", "second (k given)"} <= set(lines)
    assert [lines[name].get_linestyle() for name in ("first", "second (k given)")] == ["--", "-"]
    assert lines["first"].get_markerfacecolor() == "white"
    assert lines["first"].get_ydata().tolist() == [0.2, 0.2]
    assert axes.get_ylabel() == "AMI"
    assert axes.get_legend().get_title().get_text() == (
        "solid, filled: k given\ndashed, open: k chosen by the method"
    )


@pytest.mark.usefixtures("close_figures")
def test_legend_of_who_was_given_k_stands_beside_the_panels():
    mixed = study_of([0.5, 0.6], FOUR, k_given=(False, True))
    for figure in (mixed.plot().figure, plot_study(mixed, pyplot=False).figure):
        (legend,) = figure.legends
        assert legend.get_title().get_text().startswith("solid, filled: k given")
        names = [text.get_text() for text in legend.get_texts()]
        assert names == ["undetectable", "first", "second (k given)"]
        figure.draw_without_rendering()
        last = max(axes.get_window_extent().x1 for axes in figure.axes)
        assert legend.get_window_extent().x0 > last


def test_figure_of_overlaps_leaves_methods_out_that_choose_k():
    axes = Figure().subplots()
    study_of([0.5, 0.6], k_given=(False, True)).plot(axes, metric="overlap")
    lines = labeled(axes)
    assert "second" in lines
    assert "first" not in lines
    assert axes.get_ylabel() == "overlap (k given)"


def test_figure_of_methods_that_all_choose_k():
    axes = Figure().subplots()
    study_of([0.5, 0.6], k_given=(False, False)).plot(axes)
    assert axes.get_ylabel() == "AMI (k chosen by the methods)"


def test_legend_has_the_settings_of_leiden():
    rows = study_of([0.5, 0.6], k_given=(False, True)).rows
    names = {"first": "leiden", "second": "leiden-converged"}
    renamed = tuple({**row, "method": names[row["method"]]} for row in rows)
    axes = Figure().subplots()
    Study(("k", "snr"), ("ami",), renamed).plot(axes)
    assert {"Leiden, 2 iterations", "Leiden, converged (k given)"} <= set(labeled(axes))


FOUR = [{"k": k, "snr": snr} for k in (2, 3, 4, 5) for snr in (0.5, 1.5)]


@pytest.mark.usefixtures("close_figures")
def test_a_panel_for_each_value_of_the_other_parameters():
    axes = study_of([0.5, 0.6], FOUR).plot(metric="nmi")
    panels = axes.figure.axes
    assert panels[0] is axes
    assert [each.get_title("left") for each in panels] == ["k = 2", "k = 3", "k = 4", "k = 5"]
    assert axes.get_ylabel() == "NMI (k given)"


def test_figure_over_another_parameter():
    cells = [{"mixing": mixing, "n": 10} for mixing in (0.1, 0.2, 0.3)]
    axes = study_of([0.5, 0.6], cells).plot(Figure().subplots())
    assert axes.get_xlabel() == "mixing"
    assert not axes.patches


@pytest.mark.usefixtures("close_figures")
def test_axes_given(study):
    axes = Figure().subplots()
    assert study.plot(ax=axes) is axes
    four = Figure().subplots(2, 2)
    assert study_of([0.5, 0.6], FOUR).plot(ax=four) is four[0, 0]
    assert [each.get_title("left") for each in four.flat] == [f"k = {k}" for k in (2, 3, 4, 5)]
    assert pyplot.get_fignums() == []
    with pytest.raises(
        InputError, match=r"one Axes for each panel, 4 \(k = 2; k = 3; k = 4; k = 5\), got 1"
    ):
        study_of([0.5, 0.6], FOUR).plot(ax=axes)
    with pytest.raises(InputError, match=r"ax must hold one Axes for each panel, 1, got 2\.\n"):
        study.plot(list(Figure().subplots(1, 2)))


@pytest.mark.parametrize(
    ("ax", "kind"), [(Figure(), "Figure"), ("left", "str"), ({"left": Figure()}, "dict")]
)
def test_axes_that_are_none(study, ax, kind):
    with pytest.raises(
        InputError, match=rf"ax must be a matplotlib Axes or several, got {kind}\.\n.*subplots\(\)"
    ):
        study.plot(ax)


def test_figure_of_a_metric_that_no_method_has():
    chosen = study_of([0.5, 0.6], k_given=(False, False))
    with pytest.raises(
        InputError,
        match=r"no method has 'overlap': .*only for methods that are given k.*\n.*nmi, ami",
    ):
        chosen.plot(metric="overlap")
    with pytest.raises(InputError, match="No metric of the study has values"):
        Study(chosen.parameters, ("overlap",), chosen.rows).plot()
    given = study_of([math.nan])
    with pytest.raises(
        InputError, match=r"no method has 'overlap': in every cell it is NaN.*\n.*nmi, ami"
    ):
        given.plot(metric="overlap")


def test_figure_for_a_file_is_not_known_to_pyplot(study):
    figure = plot_study(study, panel=(5.0, 4.0), pyplot=False).figure
    assert pyplot.get_fignums() == []
    assert figure.get_size_inches().tolist() == [5.0, 4.0]
    mixed = plot_study(study_of([0.5], FOUR), panel=(5.0, 4.0), pyplot=False).figure
    assert mixed.get_size_inches().tolist() == [15.0, 8.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "ari"}, "metric must be one of 'overlap', 'nmi', 'ami', got 'ari'"),
        ({"x": "n"}, "x must be one of 'k', 'snr', got 'n'"),
    ],
)
def test_figure_that_cannot_be(study, options, message):
    with pytest.raises(InputError, match=message):
        study.plot(**options)


def test_figure_of_text_only():
    with pytest.raises(InputError, match="a parameter that is a number, and none of law is"):
        study_of([0.5], [{"law": "power"}]).plot()


def test_figure_of_nothing():
    with pytest.raises(InputError, match="a study without rows cannot be drawn"):
        Study(("snr",), ("overlap",), ()).plot()
