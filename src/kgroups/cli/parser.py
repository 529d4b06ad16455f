"""The parser of the command line, and messages of the library in terms of its flags."""

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

import kgroups as kg
from kgroups._wording import Wording
from kgroups.adapters import FORMATS, MAX_EXPANSION
from kgroups.metrics import METRIC_NAMES

EXIT_CODES = (
    "exit codes: 0 done, 1 an error explained on stderr, 2 wrong usage, 130 interrupted, "
    "141 output closed, 143 terminated"
)
DETAILS = {"auto": None, "all": True, "none": False}
"""What --html-details means to the report: computed up to a size, always, or left out."""
DRAWN_SUFFIXES = (".csv", ".npz", ".parquet", ".gml")
_PARSER = "command_parser"
# Flags of library arguments with another name; of several the first that is given.
FLAGS_OF_ARGUMENT = {"n_jobs": ("jobs",), "P": ("matrix", "inside", "degree")}
COMMAND_OF_FUNCTION = {
    "Partition.save()": "`kgroups detect --output FILE`",
    "Study.save()": "`kgroups study --output FILE`",
    "kgroups.read_graph()": "`kgroups detect PATH`",
    "kgroups.datasets.names()": "`kgroups datasets`",
}


def remember_parsers(parser: argparse.ArgumentParser) -> None:
    """Store the parser of each command in the arguments that it returns."""
    parser.set_defaults(**{_PARSER: parser})
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                remember_parsers(command)


class Flags(Wording):
    """Arguments of the library as flags of the command; see :func:`remember_parsers`."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._parser: argparse.ArgumentParser = getattr(args, _PARSER)

    def argument(self, name: str) -> str:
        """Return the flag that sets an argument."""
        for action in self._actions(name):
            if not isinstance(action, argparse._StoreConstAction):
                return action.option_strings[0]
        return name

    def setting(self, name: str, value: object) -> str:
        """Return the flag with its value, or the flag that stands for the value."""
        for action in self._actions(name):
            if isinstance(action, argparse._StoreConstAction) and action.const is value:
                return action.option_strings[0]
        flag = self.argument(name)
        return f"no {flag}" if value is None else f"{flag} {_typed(value)}"

    def function(self, name: str) -> str:
        """Return the command that does what a function does, or its name if none does."""
        return COMMAND_OF_FUNCTION.get(name, name)

    def in_python(self, text: str) -> str:
        """Leave out advice for callers in Python."""
        return ""

    def _actions(self, name: str) -> Iterator[argparse.Action]:
        dests = FLAGS_OF_ARGUMENT.get(name, (name,))
        given = [dest for dest in dests if getattr(self._args, dest, None) is not None]
        for action in self._parser._actions:
            if action.dest == (given or dests)[0] and action.option_strings:
                yield action


def _typed(value: object) -> str:
    """Return a value as in a shell: i/N for a pair of numbers, commas between words."""
    if not isinstance(value, tuple):
        return shlex.quote(str(value))
    separator = "," if all(isinstance(part, str) for part in value) else "/"
    return shlex.quote(separator.join(map(str, value)))


class _ListMethods(argparse.Action):
    """Print the methods of studies and exit."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *parsed: object) -> NoReturn:
        """Print a line for each method."""
        for method in kg.studies.METHODS.values():
            k = "k given" if method.k_given else "k chosen"
            print(f"{method.name:<21}  {k:<8}  {method.label}".rstrip())
        parser.exit()


_Flags: TypeAlias = Mapping[str, tuple[Mapping[str, Any], str]]
"""From a flag with its short form, or the name of an argument, to its options and its help."""

_WHOLE: Mapping[str, Any] = {"type": int, "metavar": "N"}
_REAL: Mapping[str, Any] = {"type": float, "metavar": "X"}
_NAME, _FILE, _VALUES = ({"metavar": metavar} for metavar in ("NAME", "FILE", "VALUES"))
_SWITCH = {"action": "store_true"}
_NEEDED_WHOLE, _NEEDED_REAL = {**_WHOLE, "required": True}, {**_REAL, "required": True}

_JSON: _Flags = {"--json": (_SWITCH, "print one JSON document")}
_GRAPH: _Flags = {
    "graph": (
        {"metavar": "GRAPH"},
        f"a file ({', '.join(one.title for one in FORMATS)}), - for an edge list on standard "
        "input, or the name of a known network such as karate (`kgroups datasets` lists them; "
        "write ./karate for a file of that name)",
    ),
    "--source": (_NAME, "column of a table that holds one end of each edge; usual names are found"),
    "--target": (_NAME, "and the other end"),
    "--max-expansion": (
        {"type": float, "default": MAX_EXPANSION, "metavar": "TIMES"},
        "how many times its size a compressed file may expand to, beyond 64 MiB "
        f"(default: {MAX_EXPANSION:g}; inf for no limit)",
    ),
    "--symmetrize": (
        {"choices": ["sum", "union"]},
        "make a directed graph undirected: add both directions, or any edge is one edge; known "
        "networks that are directed are loaded with union",
    ),
}
_WEIGHTS: _Flags = {
    "--weight": (
        {**_NAME, "default": "weight"},
        "edge attribute or column that holds the weights (default: weight, or a column with a "
        "usual name such as strength)",
    ),
    "--no-weight": ({"dest": "weight", "action": "store_const", "const": None}, "ignore weights"),
}
_SELF_LOOPS = (
    {"choices": ["drop", "keep"], "default": "drop"},
    "whether self-loops take part (default: drop)",
)
_JOBS = ({**_WHOLE, "default": 1}, "processes; -1: all cores")
_STORED: _Flags = {
    "--memory": (
        {"metavar": "SIZE"},
        "for graphs beyond memory: keep the edges in blocks on disk and use about so much memory, "
        "such as 2GB; GRAPH may then be several files or a quoted pattern",
    ),
    "--store": (
        {"metavar": "FOLDER"},
        "with --memory, keep the blocks in a folder, so that a later call need not read the edges "
        "again and an interrupted one goes on (default: a temporary folder beside the output)",
    ),
}
_DETECT: _Flags = {
    "-k --k": (
        {"type": int, "metavar": "K"},
        "number of communities; found with the communities if absent",
    ),
    "--self-loops": _SELF_LOOPS,
    "--rng": (_WHOLE, "seed of the first labels; fixed if absent"),
    "--output": (
        _FILE,
        "write the partition: .csv, .json, .parquet, .csv.gz, ...; or the graph with the "
        "communities of its nodes, for Gephi: .gml, .graphml, .gexf",
    ),
    "--confidence": (
        _SWITCH,
        "compute how probable the community of each node is, given the model and k; adds columns "
        "to the table and to the output",
    ),
    "--stability": (
        _SWITCH,
        "find communities again in ten copies without 10 %% of the edges; prints which communities "
        "are found again, and adds a column to the output",
    ),
    "--k-distribution": (_SWITCH, "compute how probable each number of communities is"),
    "--levels": (
        _SWITCH,
        "find communities at finer and coarser scales, too; prints a line a level, and adds a "
        "column a level to the output, such as k27 for the one of 27 communities",
    ),
    "--plot": (_FILE, "draw the communities: .png, .svg or .pdf"),
    "--html": (_FILE, "write an interactive report, one file that opens offline"),
    "--html-details": (
        {"choices": list(DETAILS), "default": "auto"},
        "whether the report has the spectrum, the confidence of nodes, the levels, and how sure "
        "and stable the communities are, which take longest (default: auto, what is known, levels "
        "up to 50,000 nodes, and the others up to 1,000)",
    ),
}
_SCORE: _Flags = {
    "partition": (
        {"metavar": "PARTITION"},
        "a partition file: .csv or .parquet with columns node and community, or .json",
    ),
    "--resolution": ({**_REAL, "default": 1.0}, "of the modularity (default: 1)"),
}
_INFO: _Flags = {
    "--self-loops": _SELF_LOOPS,
    "--k-distribution": (
        _SWITCH,
        "also weigh the numbers of communities by the evidence for each, which takes longer",
    ),
}
_VERDICT: _Flags = {
    "--nulls": (
        _WHOLE,
        "number of random graphs to compare with (default: 99 up to 5,000 nodes and 100,000 edges; "
        "on larger graphs, or with 0, the moments of the spectrum decide)",
    ),
    "--rng": (_WHOLE, "seed of the random graphs; fixed if absent"),
    "--jobs": _JOBS,
}
# Of each command what it does, and its flags.
_COMMANDS: Mapping[str, tuple[str, _Flags]] = {
    "detect": ("find the communities of a graph", {**_DETECT, **_STORED}),
    "score": ("score a partition on its graph", _SCORE),
    "info": ("describe a graph and what its spectrum shows", _INFO),
    "verdict": ("test whether a graph has more structure than random graphs", _VERDICT),
    "datasets": ("list the known networks and tables", {}),
    "warm": ("compile everything, so that the next call is fast", {}),
}
_TARGETS: _Flags = {
    "--output": (_FILE, "write all rows: .csv, .csv.gz, .parquet"),
    "--plot": (_FILE, "draw the means: .png, .svg or .pdf"),
    **_JSON,
}
_SIZES: Mapping[str, Any] = {"choices": ["balanced", "multinomial"], "default": "balanced"}
_BEYOND: Mapping[str, Any] = {"choices": ["error", "clip"], "default": "error"}
_BEYOND_HELP = "where snr exceeds the root of the degree: refuse, or no edges between groups"
_SNR_HELP = "signal-to-noise ratio; 1 is the threshold of detection"
_STUDY: _Flags = {
    "--n": (_VALUES, "nodes"),
    "--k": (_VALUES, "planted groups"),
    "--degree": (_VALUES, "mean degree"),
    "--snr": (_VALUES, _SNR_HELP),
    "--trials": ({**_WHOLE, "default": 10}, "per cell (default: 10)"),
    "--methods": (
        {"default": "kgroups,bethe-hessian", "metavar": "NAMES"},
        "names between commas, which --list-methods lists (default: kgroups,bethe-hessian)",
    ),
    "--list-methods": ({"action": _ListMethods}, "list the methods and exit"),
    "--metrics": (
        {"default": "overlap,nmi,ami", "metavar": "NAMES"},
        f"scores to record, from {', '.join(METRIC_NAMES)}; the first is printed and drawn, or ami "
        "if a method chooses k (default: overlap,nmi,ami)",
    ),
    "--sizes": (_SIZES, "of the groups"),
    "--beyond": ({**_BEYOND, "default": "clip"}, f"{_BEYOND_HELP} (default: clip)"),
    "--rng": ({**_WHOLE, "default": 0}, "seed of all (default: 0)"),
    "--jobs": _JOBS,
    "--journal": (
        _FILE,
        "where finished trials are kept, to resume after an interruption (default: beside "
        "--output, until that is written)",
    ),
    "--shard": ({"metavar": "I/N"}, "run the I-th of N parts; needs --journal"),
    "--quiet": (_SWITCH, "show no progress on stderr"),
    **_TARGETS,
}
_MERGE: _Flags = {"journals": ({"nargs": "+", "metavar": "JOURNAL"}, "of all shards"), **_TARGETS}
_BLOCKS: _Flags = {
    "--sizes": ({"required": True, "metavar": "N,N,..."}, "nodes of each block"),
    "--matrix": ({"metavar": "ROWS"}, 'edge probabilities, such as "0.2,0.01; 0.01,0.3"'),
    "--inside": (_REAL, "edge probability in a block"),
    "--between": (_REAL, "and between two blocks"),
    "--degree": (_REAL, "or the mean degree"),
    "--snr": (_REAL, "and the signal-to-noise ratio"),
    "--beyond": (_BEYOND, _BEYOND_HELP),
}
# Of each model of graphs what it is, and the parameters of its generator.
_MODELS: Mapping[str, tuple[str, _Flags]] = {
    "sbm": ("a stochastic block model", _BLOCKS),
    "planted": (
        "equal groups by mean degree and signal-to-noise ratio",
        {
            "--n": (_NEEDED_WHOLE, "number of nodes"),
            "--k": (_NEEDED_WHOLE, "number of groups"),
            "--degree": (_NEEDED_REAL, "mean degree"),
            "--snr": (_NEEDED_REAL, _SNR_HELP),
            "--sizes": (_SIZES, "of the groups"),
            "--beyond": (_BEYOND, _BEYOND_HELP),
        },
    ),
    "girvan-newman": (
        "128 nodes in four groups of mean degree 16",
        {"--snr": (_NEEDED_REAL, _SNR_HELP), "--beyond": (_BEYOND, _BEYOND_HELP)},
    ),
    "lfr": (
        "degrees and community sizes by power laws",
        {
            "--n": (_NEEDED_WHOLE, "number of nodes"),
            "--degree": (_NEEDED_REAL, "mean degree"),
            "--mixing": (_NEEDED_REAL, "share of edges between groups"),
            "--max-degree": (_WHOLE, "five times the mean if absent"),
            "--degree-exponent": ({**_REAL, "default": 2.5}, "of the power law (default: 2.5)"),
            "--community-exponent": ({**_REAL, "default": 1.5}, "of the sizes (default: 1.5)"),
            "--min-community": ({**_WHOLE, "default": 20}, "nodes (default: 20)"),
            "--max-community": (_WHOLE, "nodes"),
            "--internal": (
                {"choices": ["fixed", "binomial"], "default": "fixed"},
                "edges of each node in its own group: a fixed share, or by coins (default: fixed)",
            ),
        },
    ),
    "dcsbm": (
        "a stochastic block model whose degrees follow a power law",
        {
            **_BLOCKS,
            "--exponent": ({**_REAL, "default": 2.5}, "of the propensities"),
            "--ratio": ({**_REAL, "default": 100.0}, "largest propensity over smallest"),
        },
    ),
}
_DRAWN: _Flags = {
    "--rng": (_WHOLE, "seed; fresh, and printed, if absent"),
    "--output": (
        {**_FILE, "required": True},
        f"write the graph: {', '.join(DRAWN_SUFFIXES)}",
    ),
    "--labels": (_FILE, "write the planted groups: .csv"),
    **_JSON,
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run`` to its function."""
    parser = argparse.ArgumentParser(
        prog="kgroups",
        description="Communities of graphs, with the number of communities found for you.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"kgroups {kg.__version__}")
    commands_of = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (about, flags) in _COMMANDS.items():
        command = commands_of.add_parser(name, help=about)
        if name == "detect":
            # Several files are read with --memory alone.
            options, text = _GRAPH["graph"]
            _add_flags(command, {**_GRAPH, "graph": ({**options, "nargs": "+"}, text)})
        elif flags:
            _add_flags(command, _GRAPH)
        if flags:
            _add_flags(command.add_mutually_exclusive_group(), _WEIGHTS)
        _add_flags(command, {**flags, **_JSON}, f"commands.{name}")
    about = "draw many graphs with planted groups and see how well methods find them"
    command = commands_of.add_parser(
        "study",
        help=about,
        description="A row per graph and method. Several values: 2,5,15 or from:to:count.",
    )
    _add_flags(command, _STUDY, "study.run_study")
    parts = command.add_subparsers(title="parts", metavar="", required=False)
    merged = parts.add_parser("merge", help="put the journals of all shards together")
    _add_flags(merged, _MERGE, "study.merge_shards")
    command = commands_of.add_parser("generate", help="draw a graph with planted groups")
    models = command.add_subparsers(title="models", metavar="MODEL", required=True, dest="model")
    for name, (about, flags) in _MODELS.items():
        model = models.add_parser(name, help=about, description=f"Draw {about}.")
        _add_flags(model, {**flags, **_DRAWN}, "generate.draw_graph")
    remember_parsers(parser)
    return parser


def _add_flags(parser: Any, flags: _Flags, function: str | None = None) -> None:
    """Add flags to a parser or group, and the function that runs with them as ``module.name``."""
    for flag, (options, text) in flags.items():
        parser.add_argument(*flag.split(), help=text, **options)
    if function is not None:
        parser.set_defaults(run=partial(_run, function))


def _run(function: str, args: argparse.Namespace) -> None:
    """Run a command; its module is imported now, so that help is printed at once."""
    module, name = function.split(".")
    getattr(import_module(f"kgroups.cli.{module}"), name)(args)
