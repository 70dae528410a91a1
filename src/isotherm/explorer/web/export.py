"""What can be taken away: the seeds in the format in which they were read, all labels, and the fitted model."""

import csv
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isotherm.errors import ParameterError
from isotherm.explorer.state.session import Session
from isotherm.io import Column, Layout, write_labels, write_table

__all__ = ["NEW_SEEDS", "labels_file", "model_file", "seeds_file"]

NEW_SEEDS = "seeds.csv", Layout("csv", {"node": Column(1, "node"), "label": Column(2, "label")}, True, ",")


def seeds_file(session: Session) -> tuple[str, bytes]:
    """The name and the content of a file of seeds, laid out as the one that was read."""
    name, layout = session.source
    seeds = session.labels.seeds
    nodes = [session.graph.nodes[place] for place in seeds]
    columns = {role: layout.roles[role] or Column(place + 1) for place, role in enumerate(("node", "label"))}
    if layout.delimiter is not None:
        content = _text(layout, columns, list(zip(nodes, seeds.values(), strict=True)))
        return name, gzip.compress(content, mtime=0) if name.endswith(".gz") else content
    table = {columns["node"].name or "node": nodes, columns["label"].name or "label": list(seeds.values())}
    with _temporary(name) as path:
        write_table(path, table, force=True)
        return name, _content(path)


def labels_file(session: Session) -> tuple[str, bytes]:
    """A table of all nodes with their labels and confidence."""
    fitted = _fitted(session)
    with _temporary("labels.csv") as path:
        write_labels(path, session.graph, fitted, force=True)
        return "labels.csv", _content(path)


def model_file(session: Session) -> tuple[str, bytes]:
    """The fitted classifier, for `isotherm.load`."""
    fitted = _fitted(session)
    fitted.seed_columns_ = session.source[1].seed_columns  # for the sheets of `isotherm suggest`
    with _temporary("model.npz") as path:
        fitted.save(path, force=True)
        return "model.npz", _content(path)


def _text(layout: Layout, columns: dict[str, Column], rows: list[tuple[Any, Any]]) -> bytes:
    width = max(column.number for column in columns.values())
    out = io.StringIO()
    delimiter = " " if layout.delimiter == "whitespace" else str(layout.delimiter)
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    heads = {column.number: column.name or role for role, column in columns.items()}
    if layout.header:
        writer.writerow([heads.get(number, f"column{number}") for number in range(1, width + 1)])
    for node, label in rows:
        cells = {columns["node"].number: node, columns["label"].number: label}
        writer.writerow([cells.get(number, "") for number in range(1, width + 1)])
    return out.getvalue().encode()


def _fitted(session: Session) -> Any:
    if session.fitted is None:
        raise ParameterError("there is nothing to export yet: label nodes of at least two classes")
    return session.fitted


@contextmanager
def _temporary(name: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, name)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
