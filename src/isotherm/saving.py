"""Values to files and back: numbers, texts, arrays, ids, and the parts of a classifier, by their fields.

To have a new part saved, add its class to `PARTS`: a dataclass or a named tuple whose fields can be saved. A field that
is added to a part later needs a default, by which older files are read.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.calibration import Calibration
from isotherm.certificate import Certificate
from isotherm.csr import Csr
from isotherm.graph import Graph
from isotherm.io.models import damaged, read_model, write_model
from isotherm.label_odds import LabelOdds
from isotherm.label_sets import LabelSets
from isotherm.multilabel import Memberships
from isotherm.seeds import Seeds
from isotherm.selection import RuleScore
from isotherm.solvers import Solution

__all__ = ["load_values", "save_values"]

PARTS: tuple[type[Any], ...] = (
    *(Calibration, Certificate, Csr, Graph, LabelOdds, LabelSets, Memberships, RuleScore, Seeds, Solution),
)
BY_NAME = {part.__name__: part for part in PARTS}
SPARSE = ("data", "indices", "indptr")
PLAIN = (bool, int, float, str)


def save_values(path: str | os.PathLike[str], values: Mapping[str, Any], *, force: bool = False) -> None:
    """Save values by their names.

    Parameters
    ----------
    path
        The file, which ends in ``.npz``.
    values
        None, numbers, texts, arrays, sparse matrices, the classes in `PARTS`, and lists, tuples and dicts of these.
    force
        Whether to replace a file that exists.
    """
    packing = _Packing()
    content = {name: packing.packed(name, value) for name, value in values.items()}
    write_model(os.fspath(path), content, packing.arrays, force=force)


def load_values(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `save_values` saved."""
    path = os.fspath(path)
    content, arrays = read_model(path)
    try:
        values = {name: _unpacked(value, arrays) for name, value in content.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged(path) from None
    return values


class _Packing:
    """Values as JSON has them, and the arrays to which they refer: each once, whoever shares it."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names: dict[int, str] = {}

    def packed(self, name: str, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, PLAIN):
            return value
        if isinstance(value, np.ndarray):
            return self._array(name, value)
        if isinstance(value, csr_array):
            inside = {part: self.packed(f"{name}.{part}", getattr(value, part)) for part in SPARSE}
            return {"sparse": inside, "shape": list(value.shape)}
        if type(value) in PARTS:
            inside = {field: self.packed(f"{name}.{field}", getattr(value, field)) for field in _fields(value)}
            return {"part": type(value).__name__, "fields": inside}
        if isinstance(value, dict):
            return {"dict": [[self.packed(f"{name}.{key}", each) for each in (key, value[key])] for key in value]}
        if isinstance(value, list | tuple):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.packed(f"{name}.{place}", each) for place, each in enumerate(value)]}
        raise TypeError(f"{name} cannot be saved: it holds {type(value).__name__}")

    def _array(self, name: str, array: NDArray[Any]) -> dict[str, str]:
        kind = "array" if array.dtype.kind in "biuf" else "objects"
        known = self._names.setdefault(id(array), name)
        if known == name:
            self.arrays[name] = array if kind == "array" else _text(name, array)
        return {kind: known}


def _fields(value: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(value) if field.init) if is_dataclass(value) else value._fields


def _text(name: str, objects: NDArray[Any]) -> NDArray[np.uint8]:
    """Node ids or labels as JSON, which tells the types apart; a tuple becomes a list, which is no id."""
    try:
        text = json.dumps(objects.tolist(), default=_plain)
    except TypeError:
        culprit = next(each for each in objects.tolist() if not _can_be_saved(each))
        raise TypeError(
            f"{name} cannot be saved: {culprit!r} is neither int, float, bool, str nor a tuple of these; "
            "make it a str before the graph is built"
        ) from None
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _plain(value: Any) -> Any:
    if isinstance(value, np.number | np.bool_):
        return value.item()
    raise TypeError


def _can_be_saved(value: Any) -> bool:
    try:
        json.dumps(value, default=_plain)
    except TypeError:
        return False
    return True


def _unpacked(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    match value:
        case {"array": name}:
            return arrays[name]
        case {"objects": name}:
            return _objects(arrays[name])
        case {"sparse": inside, "shape": shape}:
            matrix = csr_array(tuple(_unpacked(inside[part], arrays) for part in SPARSE), shape=tuple(shape))
            matrix.check_format()
            return matrix
        case {"part": name, "fields": inside}:
            part = BY_NAME[name](**{field: _unpacked(each, arrays) for field, each in inside.items()})
            return _sound(part) if isinstance(part, Graph) else part
        case {"dict": pairs}:
            return {_unpacked(key, arrays): _unpacked(each, arrays) for key, each in pairs}
        case {"list": inside}:
            return [_unpacked(each, arrays) for each in inside]
        case {"tuple": inside}:
            return tuple(_unpacked(each, arrays) for each in inside)
    raise ValueError


def _objects(text: NDArray[np.uint8]) -> NDArray[Any]:
    values = json.loads(text.tobytes())
    return np.fromiter(map(_hashable, values), dtype=object, count=len(values))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _sound(graph: Graph) -> Graph:
    """A graph whose indices are those of its nodes: the kernels trust them."""
    indptr, indices, weights = graph.csr
    n, entries = graph.n_nodes, len(indices)
    sizes = (len(indptr), indptr[0], indptr[-1], entries if weights is None else len(weights))
    if sizes != (n + 1, 0, entries, entries) or (np.diff(indptr) < 0).any():
        raise ValueError
    if entries and not 0 <= indices.min() <= indices.max() < n:
        raise ValueError
    return graph
