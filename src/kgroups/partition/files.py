"""Partition files: JSON, CSV and Parquet."""

import csv
import gzip
import io
import json
import math
import os
import re
import zlib
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kgroups as kg
from kgroups._output import check_regular, encode_table, import_pyarrow
from kgroups._types import Floats, Ints
from kgroups._validation import name_text, plain_name
from kgroups._wording import function, in_python, listed, shown_name, text_of
from kgroups.adapters.binary_formats import announced_size
from kgroups.adapters.edges import ReadOptions
from kgroups.adapters.files import GraphFile
from kgroups.errors import FileFormatError, InputError, PartitionError
from kgroups.graph import Graph
from kgroups.inference.confidence import Confidence
from kgroups.spectrum import Spectrum

if TYPE_CHECKING:
    from kgroups.partition.levels import Levels
    from kgroups.partition.partition import Partition

SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz", ".parquet")
_COLUMNS = ["node", "community"]
_FORMAT = "kgroups partition"
_WHOLE_NUMBER = re.compile(r"\s*-?[0-9]{1,18}\s*")
# Python reads no more digits by default.
_MOST_DIGITS = 4300
_TOO_LONG = 10**_MOST_DIGITS
# Tuples in one another: json and Python limit them, too, at depths that depend on the version.
_MOST_NESTED = 100
_PLAIN_TYPES = (int, str, float, bool, type(None))
# The default field size limit of csv.reader, which can be raised only for the whole process.
LONGEST_CSV_NAME = 131_072
GRAPH_SUFFIXES = (".gml", ".graphml", ".gexf")
# Characters that XML 1.0 cannot contain.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The same partition gives the same file on any day.
_DATE = re.compile(rb' lastmodifieddate="[^"]*"')


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix that names the format to write a partition in, or raise."""
    suffix = _suffix_of(path, (*SUFFIXES, *GRAPH_SUFFIXES))
    if suffix is not None:
        return suffix
    listed = f"{', '.join(GRAPH_SUFFIXES[:-1])} or {GRAPH_SUFFIXES[-1]}"
    msg = (
        f"the name of a partition file must end in {', '.join(SUFFIXES)}; got {str(path)!r}.\n"
        f"  With {listed} the graph is written, too."
    )
    raise InputError(msg)


def _suffix_of(path: str | os.PathLike[str], suffixes: Sequence[str]) -> str | None:
    name = Path(path).name.lower()
    found = next((suffix for suffix in suffixes if name.endswith(suffix)), None)
    if found == ".parquet":
        import_pyarrow()
    return found


def check_names(path: str | os.PathLike[str], nodes: Sequence[Hashable]) -> None:
    """Raise if a file cannot hold these names, before time is spent on a partition."""
    suffix = check_suffix(path)
    if suffix in GRAPH_SUFFIXES:
        check_graph_names(path, nodes)
        return
    names_in = {".json": _json_names, ".csv": _csv_names, ".parquet": _parquet_names}
    names_in[suffix.removesuffix(".gz")](nodes)


def encode(
    partition: "Partition", path: str | os.PathLike[str], levels: "Levels | None" = None
) -> bytes:
    """Return the content of a partition file in the format that its suffix names."""
    suffix = check_suffix(path)
    if suffix in GRAPH_SUFFIXES:
        return encode_graph(partition, path, levels)
    if not suffix.startswith(".json"):
        return _to_table(partition, levels, path)
    content = _to_json(partition, levels)
    return gzip.compress(content, mtime=0) if suffix.endswith(".gz") else content


def decode(path: str | os.PathLike[str], max_expansion: float) -> dict[str, Any]:
    """Return the arguments of the Partition that a file holds."""
    suffix = _suffix_of(path, SUFFIXES)
    if suffix is None:
        msg = (
            f"the name of a partition file must end in {', '.join(SUFFIXES)}; got {str(path)!r}.\n"
            "  Graph files with communities are for other programs: save it as .json, too."
        )
        raise InputError(msg)
    options = ReadOptions(max_expansion=max_expansion)
    check_regular(path)
    try:
        with GraphFile(Path(path), options, "Partition.load") as file:
            if suffix == ".parquet":
                return _from_parquet(file, path)
            text = file.stream.read().decode("utf-8-sig", "surrogatepass")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise not_a_partition(path, f"it cannot be read as text: {error}") from error
    return _from_json(text, path) if suffix.startswith(".json") else _from_csv(text, path)


def in_graph_order(partition: "Partition", graph: Graph, path: object) -> dict[str, Any]:
    """Return the arguments of a partition that was read, in the node order of its graph.

    Names that differ only in their types are the same: tables and graph files do not keep these.
    """
    names, known = list(partition.nodes), set(graph.nodes)
    if set(names) != known:
        as_text = {text_of(node): node for node in graph.nodes}
        if len(as_text) == graph.n:
            names = [as_text.get(text_of(name), name) for name in names]
    place = {name: i for i, name in enumerate(names)}
    check_same_nodes(names, graph.nodes, str(path), "file")
    at = np.array([place[node] for node in graph.nodes], np.int64)
    given = dict(zip(partition.nodes, names, strict=True))
    confidence, stability = partition.known_confidence, partition.known_stability
    if confidence is not None:
        confidence = confidence._replace(
            own=confidence.own[at],
            runner_up=confidence.runner_up[at],
            runner_up_probability=confidence.runner_up_probability[at],
        )
    if stability is not None:
        stability = replace(stability, nodes=stability.nodes[at])
    return {
        "labels": partition.labels[at],
        "graph": graph,
        "spectrum": partition.known_spectrum,
        "uninformed": [given[node] for node in partition.uninformed],
        "confidence": confidence,
        "stability": stability,
    }


def check_same_nodes(
    nodes: Sequence[Hashable], of_graph: Collection[Hashable], whose: str, place: str
) -> None:
    """Raise unless a graph has exactly some nodes, which come from a file or a partition."""
    known, present = set(nodes), set(of_graph)
    lost = [node for node in nodes if node not in present]
    missing = [node for node in of_graph if node not in known]
    if lost or missing or len(known) < len(nodes):
        msg = f"{whose} and the graph must have the same nodes.\n"
        for found, where in ((lost, place), (missing, "graph")):
            if found:
                msg += f"  Only in the {where}: {listed(found)}.\n"
        msg += "  Use the graph that the partition was found on."
        raise PartitionError(msg)


def _to_json(partition: "Partition", levels: "Levels | None") -> bytes:
    n = partition.labels.size
    spectrum, stability = partition.known_spectrum, partition.known_stability
    document: dict[str, Any] = {
        "format": _FORMAT,
        "version": 1,
        "n": n,
        "k": partition.k,
        "nodes": None if partition.nodes == range(n) else _json_names(partition.nodes),
        "labels": partition.labels.tolist(),
        "uninformed": _json_names(partition.uninformed),
        "spectrum": None if spectrum is None else spectrum.to_dict(),
        "confidence": _json_confidence(partition.known_confidence),
        "stability": None if stability is None else stability.to_dict(),
        "levels": None if levels is None else levels.to_list(),
    }
    return (json.dumps(document, allow_nan=False) + "\n").encode()


def _json_confidence(known: Confidence | None) -> dict[str, Any] | None:
    if known is None:
        return None
    # JSON has no NaN: a null in an earlier file may stand for these probabilities.
    probability = known.runner_up_probability
    return {
        **known._asdict(),
        "own": known.own.tolist(),
        "runner_up": known.runner_up.tolist(),
        "runner_up_probability": None if np.isnan(probability).any() else probability.tolist(),
    }


def _confidence_from_json(values: dict[str, Any]) -> Confidence:
    if type(values["converged"]) is not bool:
        msg = '"converged" must be true or false'
        raise InputError(msg)
    own, probability = np.array(values["own"], dtype=float), values["runner_up_probability"]
    other = np.full_like(own, np.nan) if probability is None else np.array(probability, float)
    method, converged = str(values["method"]), values["converged"]
    return Confidence(own, _whole_numbers(values, "runner_up"), other, method, converged)


def _list(values: dict[str, Any], name: str) -> list[Any]:
    listed = values[name]
    if not isinstance(listed, list):
        msg = f'"{name}" must be a list'
        raise InputError(msg)
    return listed


def _whole_numbers(values: dict[str, Any], name: str) -> Ints:
    listed = _list(values, name)
    if not all(type(value) is int for value in listed):
        msg = f'"{name}" must hold whole numbers only'
        raise InputError(msg)
    return np.array(listed, np.int64)


def _refuse_constant(name: str) -> None:
    msg = f"{name} is not a number"
    raise ValueError(msg)


def _from_json(text: str, path: object) -> dict[str, Any]:
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise not_a_partition(path, f"it is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise not_a_partition(path, f'it lacks "format": "{_FORMAT}"')
    if document.get("version") != 1:
        raise not_a_partition(path, f"its version is {document.get('version')!r}, not 1")
    read: dict[str, Callable[[Any], Any]] = {
        "spectrum": Spectrum.from_dict,
        "confidence": _confidence_from_json,
        "stability": lambda values: kg.Stability.from_dict(values),
    }
    try:
        labels, nodes = _whole_numbers(document, "labels"), document["nodes"]
        if nodes is not None:
            nodes = [_from_json_name(node) for node in _list(document, "nodes")]
        return {
            "labels": labels,
            "nodes": nodes,
            "uninformed": [_from_json_name(node) for node in _list(document, "uninformed")],
            **{
                name: part(document[name])
                for name, part in read.items()
                if document.get(name) is not None
            },
        }
    except InputError as error:
        raise not_a_partition(path, str(error)) from error
    except KeyError as error:
        raise not_a_partition(path, f"it lacks {error}") from error
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise not_a_partition(path, f"{type(error).__name__}: {error}") from error


def _json_names(nodes: Sequence[Hashable]) -> Sequence[Any]:
    return list(nodes) if isinstance(nodes, range) else [_as_json(node) for node in nodes]


def _as_json(name: Hashable, depth: int = 0) -> Any:
    name = plain_name(name)
    if type(name) is tuple:
        if depth == _MOST_NESTED:
            msg = (
                f"node names in a file must be nested at most {_MOST_NESTED} deep, got "
                f"{shown_name(name)} in {_MOST_NESTED} tuples.\n  Rename this node first."
            )
            raise PartitionError(msg)
        return {"tuple": [_as_json(part, depth + 1) for part in name]}
    if type(name) is int:
        _check_digits(name)
    if type(name) is float and not math.isfinite(name):
        return {"float": str(name)}
    if type(name) in _PLAIN_TYPES:
        return name
    msg = (
        "node names in a JSON file must be of type int, str, float, bool, None or tuple, got "
        f"{shown_name(name)} of type {type(name).__name__}.\n"
        f"  Rename the nodes first{in_python(', or keep the partition with pickle')}."
    )
    raise PartitionError(msg)


def _check_digits(name: int) -> None:
    if abs(name) >= _TOO_LONG:
        msg = (
            f"node names in a file must have at most {_MOST_DIGITS:,} digits, got "
            f"{shown_name(name)}.\n  Rename this node first."
        )
        raise PartitionError(msg)


def _from_json_name(value: Any, depth: int = 0) -> Hashable:
    match value:
        case {"tuple": list(parts)} if depth < _MOST_NESTED:
            return tuple(_from_json_name(part, depth + 1) for part in parts)
        case {"float": str(text)}:
            return float(text)
        case int() | str() | float() | None:
            return value
    msg = f"{shown_name(value)} is not the name of a node"
    raise ValueError(msg)


def _columns(partition: "Partition", levels: "Levels | None") -> dict[str, Any]:
    """Return what is known of each node, under the names of columns or attributes."""
    columns: dict[str, Any] = {"community": partition.labels}
    known, stability = partition.known_confidence, partition.known_stability
    if known is not None:
        columns |= {"confidence": known.own, "runner_up": known.runner_up}
    if stability is not None:
        columns["stability"] = stability.nodes
    if levels is not None:
        columns |= zip(levels.names, (level.labels for level in levels), strict=True)
    return columns


def _to_table(
    partition: "Partition", levels: "Levels | None", path: str | os.PathLike[str]
) -> bytes:
    in_parquet = str(path).lower().endswith(".parquet")
    names = (_parquet_names if in_parquet else _csv_names)(partition.nodes)
    in_file = _or_null if in_parquet else _in_six_digits
    columns = {
        name: in_file(values) if values.dtype.kind == "f" else values
        for name, values in _columns(partition, levels).items()
    }
    return encode_table({"node": names, **columns}, path)


def _in_six_digits(values: Floats) -> list[float | str]:
    """Return numbers for a CSV file, where NaN is empty."""
    return ["" if math.isnan(v) else float(f"{v:.6g}") for v in values.tolist()]


def _or_null(values: Floats) -> Any:
    """Return numbers for a Parquet file, where NaN is null."""
    pyarrow, _ = import_pyarrow()
    return pyarrow.array(values, from_pandas=True)


def _csv_names(nodes: Sequence[Hashable]) -> Sequence[int | str]:
    if isinstance(nodes, range):
        return nodes
    names = _table_names(nodes)
    for name in names:
        if isinstance(name, str) and len(name) > LONGEST_CSV_NAME:
            msg = (
                f"node names in a .csv file must have at most {LONGEST_CSV_NAME:,} characters, "
                f"got one of {len(name):,} that begins with {name[:20]!r}.\n  Save as .json."
            )
            raise PartitionError(msg)
    return names


def _from_csv(text: str, path: object) -> dict[str, Any]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    names: list[str] = []
    communities: list[str] = []
    try:
        header = next(reader, None)
        if header is None or header[:2] != _COLUMNS:
            raise not_a_partition(
                path, f"line 1 must begin with {','.join(_COLUMNS)}, got {header!r}"
            )
        for row in reader:
            line = f"line {reader.line_num} must"
            if len(row) != len(header):
                raise not_a_partition(path, f"{line} have {len(header)} fields, got {row!r}")
            if not row[1]:
                raise not_a_partition(path, f"{line} name its community, got ''")
            names.append(row[0])
            communities.append(row[1])
    except csv.Error as error:
        raise not_a_partition(path, f"line {reader.line_num}: {error}") from error
    labels = _community_numbers(communities, path)
    return {"labels": labels, "nodes": _numbers_or_text(names)}


def _community_numbers(communities: list[str], path: object) -> Ints:
    """Return the numbers of communities, new ones if all have names."""
    words = [place for place, text in enumerate(communities) if not _WHOLE_NUMBER.fullmatch(text)]
    if not words:
        return np.array([int(text) for text in communities], np.int64)
    if len(words) == len(communities):
        return np.unique(communities, return_inverse=True)[1]
    problem = f"line {words[0] + 2} must name its community by a whole number, as others do, got "
    raise not_a_partition(path, f"{problem}{communities[words[0]]!r}")


def _numbers_or_text(names: list[str]) -> list[int] | list[str]:
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return names
    return numbers if [str(number) for number in numbers] == names else names


def _parquet_names(nodes: Sequence[Hashable]) -> Any:
    pyarrow, _ = import_pyarrow()
    if isinstance(nodes, range):
        # An array of numbers avoids one object per node.
        return pyarrow.array(np.arange(nodes.start, nodes.stop, nodes.step))
    names = _table_names(nodes)
    try:
        return pyarrow.array(names)
    except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
        msg = f"a .parquet file cannot hold these node names: {error}.\n  Save as .json."
        raise PartitionError(msg) from error


def _from_parquet(file: GraphFile, path: object) -> dict[str, Any]:
    pyarrow, _ = import_pyarrow()
    try:
        table = read_parquet(file, _COLUMNS)
        nodes, labels = (table.column(name) for name in _COLUMNS)
        if nodes.null_count:
            raise not_a_partition(path, "the column node must name every node, got null")
        # Repeated names would take far more memory than the file has announced.
        if pyarrow.types.is_dictionary(nodes.type) and any(
            len(chunk.dictionary) < len(chunk) for chunk in nodes.chunks
        ):
            raise not_a_partition(path, "each node must be named once, and some are not")
        names = nodes.to_pylist()
    except (FileFormatError, MemoryError):
        raise
    except Exception as error:
        # pyarrow raises errors of many kinds for damaged files.
        raise not_a_partition(path, str(error)) from error
    if not all(type(name) in (int, str) for name in names):
        raise not_a_partition(path, "the column node must hold whole numbers or text")
    if labels.null_count or not pyarrow.types.is_integer(labels.type):
        raise not_a_partition(path, "the column community must hold whole numbers only")
    return {"labels": labels.to_numpy(), "nodes": names}


def _table_names(nodes: Sequence[Hashable]) -> list[int | str]:
    """Return names that are all int or all str, or raise: a table has one type per column."""
    names: list[Any] = list(map(plain_name, nodes))
    kind = int if names and type(names[0]) is int else str
    others = [name for name in names if type(name) is not kind]
    if others:
        beside = f"{shown_name(names[0])} and " if others[0] is not names[0] else ""
        msg = (
            "node names in a table must be all int or all str, got "
            f"{beside}{shown_name(others[0])} of type {type(others[0]).__name__}.\n"
            "  Save as .json, which also keeps float, bool, None, tuple and mixed types."
        )
        raise PartitionError(msg)
    for name in names if kind is int else ():
        _check_digits(name)
    return names


def read_parquet(file: GraphFile, columns: Collection[str] | None = None) -> Any:
    """Return the pyarrow table in a Parquet file, or those of its columns that are named.

    Columns of text are dictionaries, so that a text that is repeated takes memory once.

    The file is read without threads: ``pyarrow.parquet.read_table`` starts some, with which a
    process that exits right after it aborts about once in a hundred times.
    """
    pyarrow, parquet = import_pyarrow()
    schema = parquet.read_schema(file.stream)
    texts = [column.name for column in schema if pyarrow.types.is_string(column.type)]
    content = parquet.ParquetFile(file.stream, pre_buffer=False, read_dictionary=texts)
    names = schema.names
    wanted = names if columns is None else [name for name in names if name in columns]
    file.check_expansion(announced_size(content, wanted))
    return content.read(columns=wanted, use_threads=False)


def not_a_partition(path: object, reason: str) -> FileFormatError:
    """Return the error for a file that does not hold a partition."""
    return FileFormatError(
        f"{path} does not hold a partition: {reason.rstrip('.')}.\n"
        f"  {function('Partition.save()')} writes such files; a table needs the columns node and "
        "community, and may have others after them."
    )


def check_graph_names(path: str | os.PathLike[str], nodes: Sequence[Hashable]) -> None:
    """Raise if a graph file cannot hold these names, or two of them would become equal."""
    if isinstance(nodes, range):
        return
    suffix = Path(path).suffix.lower()
    seen: dict[str, Hashable] = {}
    for node in map(plain_name, nodes):
        if type(node) not in (int, str):
            msg = (
                "node names in a graph file must be whole numbers or text, got "
                f"{shown_name(node)} of type {type(node).__name__}.\n"
                "  Write the communities to a .json file."
            )
            raise PartitionError(msg)
        text = name_text(node, "a graph file")
        other = seen.setdefault(text, node)
        if other is not node and type(other) is not type(node):
            msg = (
                f"node names in a graph file must differ as text, got {shown_name(other)} and "
                f"{shown_name(node)}.\n"
                "  Write the communities to a .json file, which keeps types."
            )
            raise PartitionError(msg)
        if suffix != ".gml" and _NOT_IN_XML.search(text):
            msg = f"a {suffix} file cannot hold the node name {text!r}.\n  Write a .gml file."
            raise PartitionError(msg)


def encode_graph(
    partition: "Partition", path: str | os.PathLike[str], levels: "Levels | None" = None
) -> bytes:
    """Return the graph in the format that the suffix names, with the attribute ``community``.

    What else is known of the nodes are attributes, too. Weights, if the graph has any, become the
    edge attribute ``weight``.
    """
    import networkx as nx

    check_graph_names(path, partition.nodes)
    suffix = Path(path).suffix.lower()
    graph = partition._graph_for(f"saving as {suffix}")
    annotated = graph._with(nodes=tuple(map(plain_name, graph.nodes))).to_networkx()
    for name, values in _columns(partition, levels).items():
        # A node that counts in no resample has no stability.
        known = zip(graph.nodes, values.tolist(), strict=True)
        nx.set_node_attributes(annotated, {node: v for node, v in known if v == v}, name)
    if suffix == ".gml":
        return ("\n".join(nx.generate_gml(annotated)) + "\n").encode("ascii")
    sink = io.BytesIO()
    if suffix == ".graphml":
        nx.write_graphml_xml(annotated, sink)
        return sink.getvalue()
    nx.write_gexf(annotated, sink)
    return _DATE.sub(b"", sink.getvalue(), count=1)
