"""MATLAB files, up to version 7: a square matrix among the variables, and perhaps labels."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import blaming, shorten
from isotherm.io.graph_formats.npz import graph_of
from isotherm.io.layout import Layout, Options, Pick
from isotherm.io.memory import Budget
from isotherm.io.streams import Input, opened, peek

__all__ = ["mat_labels", "read_mat"]

USUAL = ("A", "adj", "adjacency", "network", "W", "G")
USUAL_LABELS = ("label", "labels", "y", "Y", "group", "class")
HDF = b"\x89HDF"


def read_mat(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a MATLAB file: its only square matrix, one named A or the like, or ``Problem.A`` of SuiteSparse."""
    variables = _variables(file, options)
    square = {name: value for name, value in variables.items() if _is_square(value)}
    name = next((name for name in USUAL if name in square), next(iter(square)) if len(square) == 1 else None)
    if name is None:
        found = ", ".join(map(shorten, square or variables)) or "nothing"
        what = "several square matrices" if square else "no square matrix"
        raise FileError(f"{file.name} has {what}: {found}; name that of the edges A and save it again")
    return graph_of(file.name, coo_array(square[name]), options, first=1), Layout("mat", first_id=1)


def mat_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of nodes in a MATLAB file, and the name of their variable; 0, -1 and NaN mean unknown."""
    variables = _variables(file, options)
    names = USUAL_LABELS if label is None else (str(label),)
    name = next((name for name in names if name in variables), None)
    if name is None:
        found = ", ".join(map(shorten, variables)) or "nothing"
        message = "{path} has no variable of labels named {names}, only {found}; choose one with {label}"
        facts = {"names": " or ".join(names), "found": found, "label": Option("label")}
        raise FileError(message, path=file.name, **facts)
    return _labels(file.name, name, variables[name]), name


def _labels(path: str, name: str, values: Any) -> dict[Any, Any]:
    """Labels by node; in a matrix with a column for each class, the column of the only entry of a row."""
    rows, columns = values.shape
    dense = values.toarray() if issparse(values) else np.asarray(values)
    if min(rows, columns) > 1:
        marked = dense != 0
        if (marked.sum(axis=1) > 1).any():
            raise FileError(
                f"{path}: in {name} some nodes have several labels; write a table with a row for each label"
            )
        codes = np.where(marked.any(axis=1), marked.argmax(axis=1) + 1, 0)
    else:
        flat = dense.ravel()
        if flat.dtype.kind not in "biuf" or (np.nan_to_num(flat) % 1).any():
            raise FileError(f"{path}: {name} holds {flat.dtype}, but labels are whole numbers; give another variable")
        codes = np.nan_to_num(flat).astype(np.int64)
    known = np.flatnonzero((codes != 0) & (codes != -1))
    if not len(known):
        raise FileError(f"{path} has no seeds: every label is 0, which means unknown; fill some in")
    return dict(zip((known + 1).tolist(), codes[known].tolist(), strict=True))


def _variables(file: Input, options: Options) -> dict[str, Any]:
    """The numeric variables of a file, by name."""
    from scipy.io import loadmat, whosmat

    source = file.source()
    if peek(source, 4) == HDF:
        raise FileError(f"{file.name} is of MATLAB 7.3; save it with save(..., '-v7')")
    budget = Budget(file.name, options.max_memory)
    with blaming(file.name, "a MATLAB file"), opened(source) as handle:
        for _, shape, kind in whosmat(handle):
            if kind not in ("sparse", "struct", "cell"):
                budget.check_bytes(8 * int(np.prod(shape, dtype=np.float64)))
        handle.seek(0)
        found = loadmat(handle)
    variables = {name: value for name, value in found.items() if not name.startswith("__")}
    problem = variables.get("Problem")
    if isinstance(problem, np.ndarray) and problem.dtype.names and "A" in problem.dtype.names:
        variables["A"] = problem["A"].item()
    return {name: value for name, value in variables.items() if _is_matrix(value)}


def _is_matrix(value: Any) -> bool:
    return issparse(value) or (isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf")


def _is_square(value: Any) -> bool:
    return value.shape[0] == value.shape[1] > 1
