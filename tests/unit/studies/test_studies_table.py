"""The table of a study: summary, files, figure."""

import math
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kgroups.errors import FileFormatError, InputError, MissingExtraError
from kgroups.studies import Study


def study_of(scores, parameters=None):
    parameters = parameters or [{"k": 2, "snr": 0.5}, {"k": 2, "snr": 1.5}]
    rows = [
        {
            **cell,
            "trial": trial,
            "method": method,
            "overlap": float(score),
            "nmi": 0.1,
            "k_hat": 2,
            "seconds": 0.25,
            "seed": 2**62 + trial,
        }
        for cell in parameters
        for trial, score in enumerate(scores)
        for method in ("first", "second")
    ]
    return Study(tuple(parameters[0]), ("overlap", "nmi"), tuple(rows))


@pytest.fixture
def study():
    return study_of(np.random.default_rng(0).random(7))


def test_summary_is_that_of_scipy(study):
    lines = study.summary()
    assert len(lines) == 2 * 2 * 2
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
    assert len(pd.DataFrame(study.summary())) == 8


def test_pandas_that_is_not_installed(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r'to_pandas needs pandas.*"kgroups\[study\]"'):
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
        ("a.parquet", b"plain", "is not a Parquet table"),
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
    with pytest.raises(MissingExtraError, match=r'pip install "kgroups\[parquet\]"'):
        study.save("study.parquet")


def test_repr(study):
    assert repr(study) == (
        "Study(28 rows: 2 cells over k, snr; methods first, second; metrics overlap, nmi)"
    )


def test_figure_shades_what_cannot_be_detected(study):
    figure = study.plot()
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["first"].get_xdata().tolist() == [0.5, 1.5]
    means = [line["mean"] for line in study.summary() if line["metric"] == "overlap"]
    assert lines["first"].get_ydata().tolist() == means[::2]
    assert any(line.get_xdata()[0] == 1.0 for line in lines.values())
    shaded = [patch for patch in axes.patches if patch.get_label() == "undetectable"]
    extents = shaded[0].get_path().get_extents(shaded[0].get_patch_transform())
    assert (extents.x0, extents.x1) == (0.0, 1.0)
    assert axes.get_xlabel() == "signal-to-noise ratio"


def test_a_panel_for_each_value_of_the_other_parameters():
    cells = [{"k": k, "snr": snr} for k in (2, 3, 4, 5) for snr in (0.5, 1.5)]
    figure = study_of([0.5, 0.6], cells).plot(metric="nmi")
    assert [axes.get_title("left") for axes in figure.axes] == ["k = 2", "k = 3", "k = 4", "k = 5"]


def test_figure_over_another_parameter():
    cells = [{"mixing": mixing, "n": 10} for mixing in (0.1, 0.2, 0.3)]
    (axes,) = study_of([0.5, 0.6], cells).plot().axes
    assert axes.get_xlabel() == "mixing"
    assert not axes.patches


def test_figure_given(study):
    from matplotlib.figure import Figure

    figure = Figure()
    assert study.plot(figure=figure) is figure


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "ari"}, "metric must be one of overlap, nmi, got 'ari'"),
        ({"x": "n"}, "x must be one of k, snr, got 'n'"),
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
