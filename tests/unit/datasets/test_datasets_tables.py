"""Known tables: shapes, classes, missing cells, and messages when something is absent."""

import csv
import gzip
import hashlib
import io
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from helpers.data import each, needs
from kgroups import datasets
from kgroups import datasets as catalog
from kgroups.errors import FileFormatError, InputError

SOURCE_TREE = Path(__file__).resolve().parents[3]
# Rows, columns and sizes of the classes in sorted order of their labels.
EXPECTED = {
    "dermatology": (366, 34, [112, 61, 72, 49, 52, 20]),
    "libras": (360, 90, [24] * 15),
    "vehicle": (846, 18, [218, 212, 217, 199]),
    "forest_type": (523, 27, [159, 86, 83, 195]),
    "covertype15120": (15120, 54, [2160] * 7),
    "covertype1400": (1400, 54, [200] * 7),
    "segmentation": (210, 19, [30] * 7),
    "wine": (178, 13, [59, 71, 48]),
    "synthetic_control": (600, 60, [100] * 6),
    "fertility": (100, 9, [88, 12]),
    "glass": (214, 9, [70, 76, 17, 13, 9, 29]),
    "ionosphere": (351, 34, [225, 126]),
    "epileptic": (11500, 178, [2300] * 5),
    "anuran": (7195, 22, [672, 3478, 542, 310, 472, 1121, 270, 114, 68, 148]),
    "pendigits": (7494, 16, [780, 779, 780, 719, 780, 720, 720, 778, 719, 719]),
    "seeds": (210, 7, [70] * 3),
    "spect_heart": (267, 22, [55, 212]),
    "iris": (150, 4, [50] * 3),
    "contraceptive": (1473, 9, [629, 333, 511]),
}


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """Name an empty folder by KGROUPS_DATA, and another as the home of the user."""
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path / "data"))
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def tiny(monkeypatch):
    """Make a table of three rows the only one that is known; return its entry and its content."""
    content = gzip.compress(b"age,height,label\n1,2.5,b\n,-3e2,a\n4,,b\n")
    entry = catalog.TableInfo(
        name="tiny",
        title="Three rows",
        bundled=False,
        citation="nobody",
        archive="nowhere",
        origin="this test",
        license="none",
        note="made up",
        rows=3,
        columns=2,
        classes=2,
        missing=2,
        data_file=catalog.DataFile("tiny.csv.gz", hashlib.sha256(content).hexdigest()),
    )
    monkeypatch.setattr(catalog, "_index", lambda: {"tiny": entry})
    return entry, content


def test_every_table_is_listed_once_and_none_is_bundled():
    assert datasets.table_names() == tuple(EXPECTED)
    assert [entry.name for entry in datasets.describe_tables()] == list(EXPECTED)
    assert set(datasets.names()).isdisjoint(EXPECTED)
    assert not any(entry.bundled for entry in datasets.describe_tables())


@pytest.mark.parametrize("name", EXPECTED)
def test_index_has_the_sizes_and_the_sources(name):
    entry = catalog.find_entry(name, datasets.TableInfo)
    rows, columns, classes = EXPECTED[name]
    assert (entry.rows, entry.columns, entry.classes) == (rows, columns, len(classes))
    assert sum(classes) == rows
    assert all((entry.title, entry.citation, entry.origin, entry.license))


@pytest.mark.parametrize("name", each(EXPECTED))
def test_loaded_table_has_the_sizes_of_the_index(name):
    loaded = datasets.load_table(name)
    entry = catalog.find_entry(name, datasets.TableInfo)
    rows, columns, classes = EXPECTED[name]
    assert loaded.X.shape == (rows, columns)
    assert loaded.X.dtype == np.float64
    assert len(set(loaded.columns)) == columns
    assert np.unique(loaded.labels, return_counts=True)[1].tolist() == classes
    assert np.count_nonzero(np.isnan(loaded.X)) == entry.missing
    assert not np.isinf(loaded.X).any()
    assert (loaded.title, loaded.citation, loaded.note) == (entry.title, entry.citation, entry.note)


@needs("dermatology")
def test_missing_ages_of_dermatology_are_nan():
    dermatology = datasets.load_table("dermatology")
    rows, columns = np.nonzero(np.isnan(dermatology.X))
    assert {dermatology.columns[column] for column in columns} == {"Age"}
    assert np.unique(rows).size == 8


@needs("covertype1400", "covertype15120")
def test_covertype1400_is_drawn_from_covertype15120():
    few, many = datasets.load_table("covertype1400"), datasets.load_table("covertype15120")
    assert few.columns == many.columns
    rows_of_many = {(*row, a) for row, a in zip(many.X.tolist(), many.labels, strict=True)}
    assert {(*row, a) for row, a in zip(few.X.tolist(), few.labels, strict=True)} <= rows_of_many


@pytest.mark.parametrize("name", each(["wine", "iris"]))
def test_values_equal_those_of_scikit_learn(name):
    sklearn_datasets = pytest.importorskip("sklearn.datasets")
    loaded = datasets.load_table(name)
    original = getattr(sklearn_datasets, f"load_{name}")()
    np.testing.assert_array_equal(loaded.X, original.data)
    np.testing.assert_array_equal(loaded.labels, original.target_names[original.target])


def test_compressed_file_is_read_from_the_named_folder(data_folder, tiny):
    entry, content = tiny
    assert not entry.present
    (data_folder / "tiny.csv.gz").write_bytes(content)
    assert entry.present
    loaded = datasets.load_table("tiny")
    np.testing.assert_array_equal(loaded.X, [[1.0, 2.5], [np.nan, -300.0], [4.0, np.nan]])
    assert loaded.columns == ("age", "height")
    assert loaded.labels.tolist() == ["b", "a", "b"]
    assert (loaded.origin, loaded.license, loaded.note) == ("this test", "none", "made up")
    assert repr(loaded) == "Table('tiny', 3 rows x 2 columns, 2 classes)"


def test_file_is_read_from_the_users_folder_without_the_variable(data_folder, tiny, monkeypatch):
    monkeypatch.delenv("KGROUPS_DATA")
    (users,) = datasets.data_folders()
    users.mkdir(parents=True)
    (users / "tiny.csv.gz").write_bytes(tiny[1])
    assert datasets.load_table("tiny").X.shape == (3, 2)


def test_table_cannot_be_changed(data_folder, tiny):
    (data_folder / "tiny.csv.gz").write_bytes(tiny[1])
    loaded = datasets.load_table("tiny")
    with pytest.raises(ValueError, match="read-only"):
        loaded.X[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        loaded.labels[0] = "a"
    with pytest.raises(FrozenInstanceError):
        loaded.X = None


@pytest.mark.parametrize("variable_is_set", [True, False])
@pytest.mark.parametrize("name", EXPECTED)
def test_absent_file_names_checksum_origin_and_folder(
    data_folder, monkeypatch, name, variable_is_set
):
    if not variable_is_set:
        monkeypatch.delenv("KGROUPS_DATA")
    entry = catalog.find_entry(name, datasets.TableInfo)
    assert not entry.present
    with pytest.raises(FileFormatError) as caught:
        datasets.load_table(name)
    message = str(caught.value)
    assert message.startswith(f"the table {name!r} needs the file {entry.data_file.file}, ")
    for part in (entry.data_file.sha256, entry.origin, "KGROUPS_DATA"):
        assert part in message
    assert f"Put it into {datasets.data_folders()[0]}, or" in message


def test_wrong_checksum_is_refused(data_folder):
    (data_folder / "iris.csv").write_text("sepal_length_cm,label\n1,setosa\n")
    match = (
        r"(?s)iris\.csv must have the sha256 d3b09efd.* of the table 'iris', got [0-9a-f]{64}\.\n"
        r".*original \(scikit-learn 1\.9\.1\), or read your own file with pandas"
    )
    with pytest.raises(FileFormatError, match=match):
        datasets.load_table("iris")


def test_name_of_the_other_kind_is_answered_with_its_loader():
    with pytest.raises(
        InputError, match=r"(?s)'iris', which is the name of a table.*load_table\('iris'\)"
    ):
        datasets.load("iris")
    with pytest.raises(
        InputError, match=r"(?s)'karate', which is the name of a network.*load\('karate'\)"
    ):
        datasets.load_table("karate")


def test_unknown_name_is_answered_with_a_guess():
    match = r"(?s)name of a table must be one of 'derm.*'iri'\. Did you mean 'iris'\?.*_tables\(\)"
    with pytest.raises(InputError, match=match):
        datasets.load_table("iri")
    with pytest.raises(InputError, match=r"'[a-z0-9_]+' and \d+ more; got 3") as caught:
        datasets.load_table(3)
    assert str(caught.value).partition(" and ")[0].count("'") == 20
    with pytest.raises(InputError, match=r"got \['iris'\]"):
        datasets.load_table(["iris"])


def test_readme_of_the_folder_describes_every_table():
    folder = SOURCE_TREE / "datasets"
    if not folder.is_dir():
        pytest.skip("not run from the source tree")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for entry in datasets.describe_tables():
        data_file = entry.data_file
        assert f"| `{data_file.file}` | `{data_file.sha256}` |" in readme
        size = f"| `{entry.name}` | {entry.rows} | {entry.columns} | {entry.classes} | "
        line = next(line for line in readme.splitlines() if line.startswith(size))
        for text in (entry.title, entry.citation, entry.origin, entry.license):
            assert text in line


def test_labels_of_numbers_are_integers_and_of_words_text(data_folder, monkeypatch):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["x", "label"], [0.5, 10], [1.5, 9]])
    content = text.getvalue().encode()
    (data_folder / "numbers.csv").write_bytes(content)
    data_file = catalog.DataFile("numbers.csv", hashlib.sha256(content).hexdigest())
    words = dict.fromkeys(("title", "citation", "archive", "origin", "license", "note"), "")
    entry = catalog.TableInfo(
        name="numbers",
        bundled=False,
        rows=2,
        columns=1,
        classes=2,
        missing=0,
        data_file=data_file,
        **words,
    )
    monkeypatch.setattr(catalog, "_index", lambda: {"numbers": entry})
    labels = datasets.load_table("numbers").labels
    assert labels.dtype == np.int64
    assert labels.tolist() == [10, 9]
