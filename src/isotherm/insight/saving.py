"""Save a classifier to a file and load it: numbers, strings, arrays, node ids, and parts (classes saved by field).

To save a new part, add its class to `PARTS` in ``model_checks.py``: a dataclass or a named tuple whose fields can be
saved. State the shapes of its arrays there as well. A field that is added to a part later needs a default, so that
older files can still be loaded.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.graphs.packed import PackedGraph
from isotherm.insight.confidence.found import Found
from isotherm.insight.model_checks import (
    PARTS,
    check_compressed,
    check_found,
    check_graph,
    check_names,
    check_seed_columns,
    check_seeds,
    check_settings,
    checked_outcome,
)
from isotherm.io.models import DAMAGE, damaged, read_model, write_model
from isotherm.labelling.fit import Fit, dirichlet_problem
from isotherm.labelling.label_sets import LabelSets
from isotherm.labelling.rules import RULES, Rule

__all__ = ["Saved", "load_model", "save_model"]

BY_NAME = {part.__name__: part for part in PARTS}
SPARSE = ("data", "indices", "indptr")
PLAIN = (bool, int, float, str)


class Saved(NamedTuple):
    """The state of a classifier that is saved.

    Attributes
    ----------
    parameters
        Its parameters.
    fit
        The fit.
    found
        What was learnt from held-out seeds.
    feature_names
        Column names of the matrix that it was fitted on, if any.
    seed_columns
        The names of the columns of node and label in the file of seeds, in its order, if they are known.
    """

    parameters: dict[str, Any]
    fit: Fit
    found: Found
    feature_names: NDArray[Any] | None = None
    seed_columns: Mapping[str, str] | None = None


def save_model(path: str | os.PathLike[str], saved: Saved, *, force: bool = False) -> None:
    """Save a classifier to a file whose name ends in ``.npz``; with ``force``, replace an existing file."""
    fit, outcome = saved.fit, saved.fit.outcome
    if isinstance(outcome, LabelSets):  # hidden seeds are large; the odds fitted to them are saved in `found`
        outcome = replace(outcome, hidden=None)
    graph = fit.graph.loaded() if isinstance(fit.graph, PackedGraph) else fit.graph  # the file stands on its own
    parts = {"graph": graph, "seeds": fit.seeds, "settings": fit.settings, "rule": fit.rule, "outcome": outcome}
    parts |= {
        "certificate": fit.certificate,
        "obstacle": fit.obstacle,
        "found": saved.found,
        "parameters": saved.parameters,
    }
    parts |= {"names": saved.feature_names}
    if saved.seed_columns:
        parts |= {"seed_columns": dict(saved.seed_columns)}
    packing = _Packing()
    content = {name: packing.packed(name, value) for name, value in parts.items()}
    write_model(os.fspath(path), content, packing.arrays, force=force)


def load_model(path: str | os.PathLike[str]) -> Saved:
    """Load what `save_model` saved; raises `FileError` if the file is damaged or malicious."""
    path = os.fspath(path)
    content, arrays = read_model(path)
    try:
        return _checked(**{name: _unpacked(value, arrays) for name, value in content.items()})
    except DAMAGE as error:
        raise damaged(path, _reason(error)) from None


def _checked(*, graph: Any, found: Any, parameters: Any, names: Any, seed_columns: Any = None, **fit: Any) -> Saved:
    check_graph(graph)
    fit.setdefault("obstacle", "")  # older files have none
    check_seeds(fit["seeds"], graph.n_nodes)
    check_settings(fit["settings"], parameters)
    fit["outcome"] = checked_outcome(fit["outcome"], fit, graph.n_nodes)
    check_found(found, fit["seeds"], graph.n_nodes)
    check_names(names)
    check_seed_columns(seed_columns)
    problem = dirichlet_problem(graph, fit["seeds"], fit["settings"].side)
    return Saved(parameters, Fit(problem, **fit), found, names, seed_columns)


def _reason(error: Exception) -> str:
    """The message of a ValueError, which is ours; other errors come from Python itself and would not help a user."""
    return str(error).replace("\n", " ") if isinstance(error, ValueError) else ""


class _Packing:
    """Turns values into JSON that refers to arrays by name; an array shared by several values is stored once."""

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
        if isinstance(value, Rule):
            return {"rule": value.name}
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
    """Node ids or labels as JSON, which preserves types. Tuples become lists, and are restored: no id is a list."""
    try:
        text = json.dumps(objects.tolist(), default=_plain)
    except TypeError:
        bad = next(each for each in objects.tolist() if not _can_be_saved(each))
        raise TypeError(
            f"{name} cannot be saved: {bad!r} is neither int, float, bool, str nor a tuple of these; "
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
            data, indices, indptr = (_unpacked(inside[part], arrays) for part in SPARSE)
            check_compressed(data, indices, indptr, shape)
            return csr_array((data, indices, indptr), shape=tuple(shape))
        case {"part": name, "fields": inside}:
            return BY_NAME[name](**{field: _unpacked(each, arrays) for field, each in inside.items()})
        case {"rule": name}:
            return RULES[name]
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
