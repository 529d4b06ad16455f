"""The notebook of ten ordinary tasks, executed by a kernel as a new user would run it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import kgroups as kg

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_ten_minutes.ipynb"
FIGURES = ("plot", "plot-again", "own-figure")
KERNEL = {
    "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "the Python of the tests",
    "language": "python",
}


def code_cells(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell for cell in cells if cell["cell_type"] == "code"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which the notebook was executed, with the files that it wrote."""
    home, folder = (tmp_path_factory.mktemp(name) for name in ("jupyter", "notebook"))
    spec = home / "kernels" / "of-the-tests" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps(KERNEL), encoding="utf-8")
    executed = shutil.copy(NOTEBOOK, folder)
    environment = {
        **os.environ,
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }
    # Otherwise the kernel would not choose the backend of notebooks.
    environment.pop("MPLBACKEND", None)
    command = "from nbclient.cli import main; main()"
    options = ["--inplace", "--kernel_name=of-the-tests"]
    ran = subprocess.run(
        [sys.executable, "-c", command, *options, executed],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def cells(folder):
    return code_cells(folder / NOTEBOOK.name)


@pytest.fixture(scope="module")
def partition():
    return kg.detect_communities(nx.karate_club_graph())


def shown(cell):
    """Return the formats in which a cell shows results, and the text that it prints."""
    formats = [name for output in cell["outputs"] for name in output.get("data", ())]
    text = "".join(
        "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        for output in cell["outputs"]
    )
    return formats, text


def test_the_notebook_is_kept_without_outputs():
    for cell in code_cells(NOTEBOOK).values():
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_every_cell_runs_and_none_warns(cells):
    assert [cell["execution_count"] for cell in cells.values()] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells.values() for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [output for output in outputs if "Warning" in "".join(output.get("text", ""))]


def test_every_figure_appears_also_those_after_the_first(cells):
    images = {name: shown(cell)[0].count("image/png") for name, cell in cells.items()}
    assert images == {name: int(name in FIGURES) for name in cells}


def test_results_are_shown_as_html(cells):
    assert "text/html" in shown(cells["detect"])[0]
    assert "text/html" in shown(cells["compare"])[0]


def test_what_is_saved_is_what_was_found(folder, cells, partition):
    assert shown(cells["reload"])[1] == "True"
    assert kg.Partition.load(folder / "karate.json") == partition
    assert kg.Partition.load(folder / "karate.csv").labels.tolist() == partition.labels.tolist()


def test_the_file_for_gephi_has_the_graph_and_its_communities(folder, partition):
    G = nx.read_gexf(folder / "karate.gexf", node_type=int)
    assert nx.utils.edges_equal(G.edges(), nx.karate_club_graph().edges())
    assert nx.get_node_attributes(G, "community") == partition.membership


def test_networkx_and_igraph_get_the_same_communities(cells, partition):
    modularity = nx.community.modularity(nx.karate_club_graph(), partition)
    assert f"{modularity:.3f}" in shown(cells["networkx"])[1]
    assert shown(cells["igraph"])[1] == f"{partition.sizes.tolist()} {modularity:.3f}\n"


def test_the_report_is_one_page(folder):
    page = (folder / "karate.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
