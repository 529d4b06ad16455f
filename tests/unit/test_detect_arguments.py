"""Names of known networks as graphs, and hints where an argument has another name."""

import inspect
from pathlib import Path

import networkx as nx
import pytest

import kgroups as kg
from kgroups.errors import FileFormatError, InputError


class TestNamesOfNetworks:
    def test_a_known_network_has_the_communities_of_its_graph(self):
        karate = kg.datasets.load("karate").graph
        assert kg.detect_communities("karate") == kg.detect_communities(karate)
        assert kg.detect_communities("karate", weight=None).graph.weights is None

    def test_a_text_is_a_file_otherwise(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("edges.csv").write_text("ann,bob\n")
        assert set(kg.detect_communities("edges.csv").nodes) == {"ann", "bob"}
        Path("karate").write_text("ann,bob\n")
        with pytest.raises(FileFormatError, match=r"the suffix must tell the format"):
            kg.detect_communities("./karate")
        with pytest.raises(FileFormatError, match=r"the suffix must tell the format"):
            kg.detect_communities(Path("karate"))

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("karat", r"'karat', which is neither\. Did you mean 'karate'\?\n  kgroups\.datasets"),
            ("no/such.gml", r"or a known network, got 'no/such\.gml', which is neither\.\n"),
            ("", r"or a known network, got '', which is neither\."),
            ("a b\nb c\n" * 200, r"got 'a b\\nb c\\n.*\.\.\., which is neither\."),
            ("a\0b", r"got 'a\\x00b', which is neither\."),
            ("iris", r"'iris', which is a known table\.\n.*load_table\('iris'\), such as nearest"),
        ],
    )
    def test_another_text_is_refused_with_near_matches(self, name, message):
        with pytest.raises(FileFormatError, match=message):
            kg.detect_communities(name)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"weight": "calls"}, "are called 'weight', got weight=\"calls\""),
            ({"source": "a", "target": "b"}, "name the columns of a file, got the known network"),
        ],
    )
    def test_columns_of_a_known_network_cannot_be_chosen(self, options, message):
        with pytest.raises(InputError, match=message):
            kg.detect_communities("karate", **options)


class TestUnknownArguments:
    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("seed", "The seed is the argument rng"),
            ("random_state", "The seed is the argument rng"),
            (
                "resolution",
                r"There is no resolution\. The argument k sets .* levels\(\) of the result",
            ),
            ("n_clusters", "The number of communities is the argument k"),
            ("symetrize", r"Did you mean symmetrize\?"),
            ("zzz", "Its arguments are graph, k, weight, "),
        ],
    )
    def test_the_argument_that_is_meant_is_named(self, name, hint):
        message = rf"detect_communities\(\) has no argument '{name}'\.\n  {hint}"
        with pytest.raises(TypeError, match=message):
            kg.detect_communities(nx.path_graph(3), **{name: 1})

    def test_the_signature_has_no_arguments_for_any_name(self):
        kinds = {p.kind for p in inspect.signature(kg.detect_communities).parameters.values()}
        assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
