"""Labels and class numbers: encode labels (in any container), decode them, warn about mistakes.

Labels are all int, all str or all bool. Floats of integral value count as int, and so do booleans among integers. A
label is unknown if it is -1, None, NaN or a missing value of pandas or polars; other negative integers are classes. In
a NumPy array of fixed-width strings, "-1", "nan", "None" and "" are unknown too, because NumPy converts missing values
to these strings; elsewhere they are ordinary labels.

The values of a pandas Series or DataFrame are by node id if its index holds ids, and by position otherwise.
"""

from collections.abc import Iterable, Mapping, Set
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Ints, Mask
from isotherm.errors import Option, Worded, warn
from isotherm.graphs import Graph

Labels: TypeAlias = NDArray[Any]  # int64, bool, or object holding str

_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})  # names of types, since pandas is optional
_MISSING_TEXTS = frozenset({"-1", "nan", "None", ""})  # what -1, NaN and None become in a NumPy array of strings
_MISSING_WORDS = frozenset({"", "nan", "na", "n/a", "<na>", "nat", "null", "unknown", "?"})  # in lower case
MISSING_SPELLINGS = frozenset({"NaN", "NaT"}.union(*({w, w.upper(), w.capitalize()} for w in _MISSING_WORDS if w)))
_UNDECIDED = _MISSING_WORDS | {"none", "-", "unsure", "not sure", "pending", "undecided", "unclear", "tbd", "todo"}


class LabelWarning(Worded, UserWarning):
    """Labels may not mean what they seem to: -1, one class only, classes that differ by case, an ambiguous index."""


def encode_labels(labels: Iterable[Any]) -> tuple[Ints, Labels]:
    """Class number of each label (-1 where the label is unknown), and the sorted classes.

    >>> encode_labels(["b", None, "a", "b"])
    (array([ 1, -1,  0,  1]), array(['a', 'b'], dtype=object))
    >>> encode_labels(np.array([7.0, np.nan, 3.0]))
    (array([ 1, -1,  0]), array([3, 7]))
    >>> encode_labels([True, None, False])
    (array([ 1, -1,  0]), array([False,  True]))
    """
    if hasattr(labels, "__array__") and not hasattr(labels, "__iter__"):
        labels = np.asarray(labels)
    shape = getattr(labels, "shape", (0,))
    if len(shape) == 2 and hasattr(labels, "columns"):
        remedy = 'pass {node: label}, such as dict(zip(table["node"], table["label"]))'
        raise ValueError(f"labels must have one dimension, not the shape {tuple(shape)}: {remedy}")
    if len(shape) != 1:
        raise ValueError(f"labels must have one dimension, not the shape {tuple(shape)}")
    if isinstance(labels, Mapping):
        raise TypeError("labels must be an array or a list with one label per node here, not a mapping")
    if isinstance(labels, (str, bytes, Set)) or not hasattr(labels, "__iter__"):
        raise TypeError(f"labels must be a mapping or an array, not {type(labels).__name__}")
    if not isinstance(labels, np.ndarray) or isinstance(labels, np.ma.MaskedArray):
        to_list = getattr(labels, "tolist", None) or getattr(labels, "to_list", None)
        return _encode_objects(to_list() if to_list else list(labels))
    if labels.dtype.kind in "biuf":
        return _encode_numbers(labels)
    if labels.dtype.kind in "OTU":
        return _encode_objects(labels.tolist(), _MISSING_TEXTS if labels.dtype.kind == "U" else frozenset())
    raise TypeError(f"labels must be int or str, not {labels.dtype}")


def decode_labels(codes: Ints, classes: Labels) -> Labels:
    """Labels of these class numbers; class number -1 gives the unknown label: -1 for int classes, None for others.

    >>> decode_labels(np.array([1, -1, 0]), np.array(["a", "b"], dtype=object))
    array(['b', None, 'a'], dtype=object)
    """
    if classes.dtype == bool:
        if (codes >= 0).all():
            return classes[codes]
        classes = classes.astype(object)
    unknown = np.array([None if classes.dtype == object else -1], dtype=classes.dtype)
    return np.concatenate([classes, unknown])[codes]


def is_unknown(labels: Labels) -> Mask:
    """(n,) which labels from `decode_labels` are unknown."""
    unknown = -1 if labels.dtype.kind == "i" else None
    return np.asarray(labels == np.array([unknown], dtype=labels.dtype if unknown else object), dtype=bool)


def _encode_numbers(labels: NDArray[Any]) -> tuple[Ints, Labels]:
    """Encode an array of booleans, integers or floats."""
    known = (labels == labels) & (labels != -1)
    values, inverse = np.unique(labels[known], return_inverse=True)
    codes = np.full(len(labels), -1, dtype=np.int64)
    codes[known] = inverse
    classes = _sorted_classes({_int_or_str(value) for value in values.tolist()})
    return codes, classes.astype(bool) if labels.dtype == bool else classes


def _encode_objects(labels: list[Any], missing: frozenset[str] = frozenset()) -> tuple[Ints, Labels]:
    """Encode Python objects, examining each distinct one once."""
    try:
        distinct = set(labels)
    except TypeError as error:
        raise TypeError(f"labels must be int or str: {error}") from None
    plain = {label: _int_or_str(label) for label in distinct if not _is_missing(label, missing)}
    classes = _sorted_classes(set(plain.values()))
    number = {label: code for code, label in enumerate(classes.tolist())}
    codes = {label: number[plain[label]] if label in plain else -1 for label in distinct}
    if plain and all(map(_is_boolean, plain)) and all(_is_boolean(label) for label in labels if label in plain):
        classes = classes.astype(bool)
    return np.fromiter(map(codes.__getitem__, labels), np.int64, len(labels)), classes


def _is_missing(label: Any, missing: frozenset[str]) -> bool:
    if isinstance(label, str):
        return label in missing
    return is_none(label) or bool(label == -1)


def is_none(value: Any) -> bool:
    """Whether this is None, NaN, or a missing value of pandas or polars."""
    return type(value).__name__ in _MISSING_TYPES or (isinstance(value, (float, np.floating)) and bool(value != value))


def is_missing_word(text: str) -> bool:
    """Whether people and programs write this where a value is missing.

    >>> is_missing_word("NA"), is_missing_word(" ? "), is_missing_word("Nathan")
    (True, True, False)
    """
    return text.strip().lower() in _MISSING_WORDS


def _is_boolean(label: Any) -> bool:
    return isinstance(label, (bool, np.bool_))


def _int_or_str(label: Any) -> int | str:
    """The label as a plain int or str."""
    if isinstance(label, str):
        return str(label)
    real = isinstance(label, (float, np.floating))
    if real and label % 1 != 0:
        message = "labels must be int or str; for real values use isotherm.solve_dirichlet"
        raise ValueError(f"Unknown label type: {label}; {message}")
    if not real and not isinstance(label, (Integral, np.bool_)):
        raise TypeError(f"labels must be int or str, not {type(label).__name__}")
    if not -(2**63) <= int(label) < 2**63:
        raise ValueError(f"the label {label} does not fit in 64 bits: convert the labels to str")
    return int(label)


def _sorted_classes(labels: set[int | str]) -> Labels:
    texts = sorted(label for label in labels if isinstance(label, str))
    numbers = sorted(label for label in labels if isinstance(label, int))
    if texts and numbers:
        raise TypeError(f"labels must be all int or all str, but there are {numbers[0]!r} and {texts[0]!r}")
    return np.array(texts, dtype=object) if texts else np.array(numbers, dtype=np.int64)


def warn_about_minus_one(labels: Iterable[Any]) -> None:
    """Warn if some labels of a mapping are -1: only arrays of labels need it, to mark unknown nodes."""
    count = sum(map(_is_minus_one, labels))
    if count:
        number, have, are = (1, "seed has", "is") if count == 1 else (count, "seeds have", "are")
        warn(
            f"{number} {have} the label -1, which means unknown, and {are} left out: "
            "leave such nodes out yourself, or rename the label if it is a class",
            LabelWarning,
        )


def warn_about_classes(classes: Labels, n_seeds: int, *, labels: Any = ()) -> None:
    """Warn about classes that hint at a mistake; ``labels`` are the labels as given, if -1 may be among them."""
    if len(classes) == 1:
        subject = "the only seed has" if n_seeds == 1 else f"all {n_seeds} seeds have"
        unknown = " (-1 means unknown)" if _has_minus_one(labels) else ""
        label = f"the label {classes.item(0)!r}{unknown}"
        warn(f"{subject} {label}, so all reached nodes get it: give seeds of another class too", LabelWarning)
    elif classes.dtype == object:
        _warn_about_spelling(classes.tolist())
        _warn_about_undecided(classes.tolist())
    elif classes.dtype.kind == "i" and classes[0] < -1 and _has_minus_one(labels):
        warn(
            f"the label -1 means unknown, but other negative labels such as {classes[0]} are classes: "
            "rename the labels if -1 is a class too",
            LabelWarning,
        )


def _has_minus_one(labels: Any) -> bool:
    """Whether the label -1 occurs."""
    if getattr(getattr(labels, "dtype", None), "kind", None) in ("b", "i", "u", "f"):  # NumPy or pandas
        return bool((labels == -1).any())
    to_list = getattr(labels, "tolist", None) or getattr(labels, "to_list", None)
    return any(map(_is_minus_one, to_list() if to_list else labels))


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, (int, float, np.number)) and bool(label == -1)


def _warn_about_spelling(classes: list[str]) -> None:
    """Name all classes that differ only by case or by blanks around them."""
    alike: dict[str, list[str]] = {}
    for label in classes:
        alike.setdefault(normal_label(label), []).append(label)
    groups = [" and ".join(map(repr, labels)) for labels in alike.values() if len(labels) > 1]
    if groups:
        are = "are two classes" if len(groups) == 1 and groups[0].count(" and ") == 1 else "are different classes"
        message = "{groups} {are}, though they differ only by case or blanks: spell them alike if they are one{remedy}"
        remedy = Option(" (isotherm.read_seeds does so with normalise_labels=True)")
        warn(LabelWarning(message, groups=", ".join(groups), are=are, remedy=remedy))


def normal_label(label: Any) -> Any:
    """A label without blanks around it and in lower case; anything but text is unchanged.

    >>> normal_label(" Fraud"), normal_label(7)
    ('fraud', 7)
    """
    return " ".join(label.split()).lower() if isinstance(label, str) else label


def _warn_about_undecided(classes: list[str]) -> None:
    """Name the classes that may stand for a missing label."""
    found = [label for label in classes if label.strip().lower() in _UNDECIDED]
    if found:
        names, is_one = ", ".join(map(repr, found)), len(found) == 1
        what = "is a class, though it looks" if is_one else "are classes, though they look"
        message = "{names} {what} like a missing label: leave such seeds out, in a file with {remedy}"
        warn(LabelWarning(message, names=names, what=what, remedy=Option("unknown", ",".join(found))))


def has_index(values: Any) -> bool:
    """Whether this is a pandas Series or DataFrame; pandas is optional, and not imported for that."""
    return hasattr(values, "iloc") and hasattr(values, "index")


def index_of_nodes(values: Any, graph: Graph, name: str) -> list[Any] | None:
    """The node ids in the index of a pandas Series; None if its values are by position, or if it has no index.

    The default index of pandas counts rows, so the values are by position. Any other index holds node ids if most of
    its entries are nodes. If no entry is a node, and there are as many values as nodes, the values are by position;
    if the entries and the node ids are both text, there is a warning. Errors call the values by their ``name``.

    >>> import pandas as pd
    >>> rod = Graph.from_edges(["a", "b"], ["b", "c"])
    >>> index_of_nodes(pd.Series(["hot", "cold"], index=["c", "a"]), rod, "labels")
    ['c', 'a']
    >>> index_of_nodes(pd.Series(["cold", None, "hot"]), rod, "labels") is None
    True
    """
    if not has_index(values):
        return None
    fits = len(values) in (graph.n_nodes, graph.n_rows)
    index = values.index
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:  # the default of pandas
        _check_row_numbers(len(values), fits, graph, name)
        return None
    ids, found = index.tolist(), _count_nodes(index, graph)
    if 2 * found > len(ids):
        for node in index[index.duplicated()].tolist()[:1]:
            problem = f"the node {node!r} occurs more than once in the index of {name}"
            raise ValueError(f"{problem}: keep one entry of each node")
        return ids
    nodes = graph.nodes.tolist()
    if found or not fits or not {str(node) for node in nodes}.isdisjoint(map(str, ids)):
        example = f"such as {ids[0]!r}, while nodes are such as {nodes[0]!r}" if ids and nodes else "is empty"
        raise ValueError(
            f"the index of {name} holds {found} nodes among {len(ids)} entries, {example}: set node ids as the index, "
            "or drop it with reset_index(drop=True) if there is one entry per node, in the order of graph.nodes"
        )
    if isinstance(ids[0], str) and isinstance(nodes[0], str):
        warn(
            f"no entry of the index of {name}, such as {ids[0]!r}, is a node, such as {nodes[0]!r}, so {name} is read "
            "in the order of graph.nodes: set node ids as the index, or drop it with reset_index(drop=True)",
            LabelWarning,
        )
    return None


def _count_nodes(index: Any, graph: Graph) -> int:
    """How many entries of an index are nodes."""
    if index.nlevels == 1:
        return int(index.astype(object).isin(graph.nodes).sum())  # an index of Arrow texts refuses tuples
    nodes = set(graph.nodes.tolist())
    return sum(entry in nodes for entry in index.tolist())


def _check_row_numbers(length: int, fits: bool, graph: Graph, name: str) -> None:
    numbered = graph.nodes.dtype.kind == "i" and (graph.nodes[:length] == np.arange(length)).all()
    if not fits:
        raise ValueError(
            f"{name} has {length} entries and no node ids as its index, but the graph has {graph.n_nodes} nodes: "
            f"give one entry per node, set node ids as the index, or pass {name}.to_dict() if these are nodes 0, 1, ..."
        )
    if not numbered and set(range(length)).issubset(graph.nodes.tolist()):
        warn(
            f"{name} is read in the order of graph.nodes, which is not 0, 1, 2, ...: "
            f"pass {name}.to_dict() if its index holds node ids",
            LabelWarning,
        )
