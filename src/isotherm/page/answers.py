"""What is sent to the page: the state, colours, one node and why it has its label, search, tables, files to export."""

import csv
import gzip
import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import ParameterError
from isotherm.io import Column, Layout, write_table
from isotherm.labelling.rows import write_labels
from isotherm.page.contents import Values
from isotherm.page.journal import Step
from isotherm.page.session import Labeller, Session, drawn_edges, forecast, shortened

NAMES_UP_TO = 100_000  # nodes of a graph whose names are sent all at once; beyond, the page asks for single ones
SHOWN_SEEDS, SHOWN_CLASSES, SHOWN_EXPERT_CLASSES = 3, 4, 3  # shown in an explanation
NEIGHBOURS = 50  # in the neighbourhood of a node
PROBABLE = 7  # classes whose probabilities are sent
HISTORY = 30  # last steps that are listed
MOST_BRIEFS = 200  # nodes that are described at once
LONGEST_NAME = 2_000  # characters of a name that are sent
NEW_SEEDS = "seeds.csv", Layout("csv", {"node": Column(1, "node"), "label": Column(2, "label")}, True, ",")


def state(session: Session) -> dict[str, Any]:
    """Everything that the page shows around the map."""
    graph, shown, labels = session.graph, session.shown, session.labels
    seeds, classes = labels.seeds, session.classes
    counts = np.bincount(shown.codes[shown.codes >= 0], minlength=len(classes))
    per_class, undoable = Counter(seeds.values()), labels.undoable
    return {
        "session": session.number,
        "version": session.version,
        "colours": shown.version,
        "name": session.name,
        "nodes": graph.n_nodes,
        "links": graph.n_edges,
        "seeds": len(seeds),
        "given": len(labels.given),
        "unlabelled": int((shown.codes < 0).sum()) if session.fitted is not None else 0,
        "classes": [
            {"name": None if label is None else _cut(label), "nodes": int(counts[code]), "seeds": per_class[label]}
            for code, label in enumerate(classes)
        ],
        "order": [classes.index(label) for label in labels.order],
        "suggestions": [_brief(session, each) for each in session.suggestions],
        "history": [_step(session, step) for step in undoable[: -HISTORY - 1 : -1]],
        "unsure": len(labels.unsure),
        "seedNodes": list(seeds),
        "undo": len(undoable),
        "redo": len(labels.undone),
        "curve": session.curve,
        "forecast": None if (more := forecast(session.curve)) is None else more._asdict(),
        "busy": session.busy,
        "failure": session.failure or session.no_map,
        "fitted": session.fitted is not None,
        "fits": session.fits,
        "calibrated": session.calibrated,
        "mapped": session.positions is not None,
    }


def _step(session: Session, step: Step) -> dict[str, Any]:
    """A step of the history, with the first node that it is about."""
    return {
        "kind": step.kind,
        "label": None if step.label is None else _cut(step.label),
        "other": _cut(step.other) if isinstance(step.other, str | int) else None,
        "count": len(step.nodes),
        "node": _brief(session, step.nodes[0]) if step.nodes else None,
    }


def colours(session: Session, since: int) -> bytes:
    """Class and shade of all nodes, or of the nodes that changed since a version.

    The first three 32-bit numbers are the version, 1 if all nodes follow, and the number of nodes that follow. Then
    come three arrays: the positions of the nodes (4 bytes each, left out if all nodes follow), their class numbers plus
    one (2 bytes) and their shades (1 byte).
    """
    shown = session.shown
    before = next((each for each in session.history if each.version == since), None)
    if before is None:
        nodes: NDArray[Any] = np.empty(0, np.uint32)
        codes, shades = shown.codes, shown.shades
    else:
        nodes = np.flatnonzero((before.codes != shown.codes) | (before.shades != shown.shades)).astype("<u4")
        codes, shades = shown.codes[nodes], shown.shades[nodes]
    head = np.array([shown.version, before is None, len(codes)], "<u4")
    return b"".join([head.tobytes(), nodes.tobytes(), (codes + 1).astype("<u2").tobytes(), shades.tobytes()])


def edges(session: Session) -> bytes:
    """The links that are drawn, as pairs of 32-bit node numbers."""
    return drawn_edges(session.graph, session.positions).astype("<u4").tobytes()


def names(session: Session) -> list[str] | None:
    """The names of all nodes; None for a large graph."""
    return [_cut(name) for name in session.names] if session.graph.n_nodes <= NAMES_UP_TO else None


def node(session: Session, place: int) -> dict[str, Any]:
    """A node: name, content, label and the probabilities of its classes."""
    return {
        **_brief(session, place),
        "node": _cut(session.graph.nodes[place]),
        "content": session.contents.at(place),
        "degree": len(_neighbours(session, place)),
        "seed": place in session.labels.seeds,
        "unsure": place in session.labels.unsure,
        "note": session.labels.notes.get(place, ""),
        "probabilities": _probabilities(session, place),
    }


def explained(session: Session, place: int) -> dict[str, Any]:
    """The seeds that heat a node: their shares by class, the strongest ones with their paths; and its neighbourhood."""
    fitted = session.fitted
    known = place in session.fitted_seeds or place in session.labels.seeds  # the newest seeds may not be fitted yet
    if fitted is None or known or fitted.fitted_.outcome.codes[place] < 0:
        return {"node": place, "classes": [], "seeds": [], "neighbourhood": neighbourhood(session, place)}
    why = fitted.explain(session.graph.nodes[place], top=SHOWN_SEEDS)
    paths = [session.graph.index(why.path(seed)).tolist() for seed in why.seed]
    seeds = [
        {
            **_brief(session, int(session.graph.index([seed])[0])),
            "label": _cut(label),
            "share": float(share),
            "path": [_cut(session.names[each], 200) for each in path[1:-1]],
        }
        for seed, label, share, path in zip(why.seed, why.label, why.share, paths, strict=True)
    ]
    return {
        "node": place,
        **_shares(session, place, why.classes),
        "note": why.note,
        **_expert_odds(why),
        "seeds": seeds,
        "neighbourhood": neighbourhood(session, place, paths),
    }


def _expert_odds(why: Any) -> dict[str, Any]:
    """What each expert says about the best classes, as the command line shows it."""
    best = why.best_classes()[:SHOWN_EXPERT_CLASSES]
    telling = {name: odds for name, odds in why.experts.items() if any(odds.values())}
    rows = [{"name": name, "odds": [float(odds[label]) for label in best]} for name, odds in telling.items()]
    return {"compared": [_cut(label) for label in best], "experts": rows}


def _shares(session: Session, place: int, shares: dict[Any, float]) -> dict[str, Any]:
    """The largest shares of classes in the heat of a node, and how far its label stands out.

    The label need not be the class with the largest share: a class that heats every node tells little about this one.
    So the share of the label is compared with its mean over all nodes. ``most`` is true if no other class exceeds its
    own mean by a larger factor.
    """
    code = int(session.shown.codes[place])
    label = session.classes[code] if code >= 0 else None
    ranked = sorted((name for name, share in shares.items() if share > 0), key=lambda name: -shares[name])
    listed = sorted(ranked, key=lambda name: name != label)[:SHOWN_CLASSES]
    answer: dict[str, Any] = {
        "classes": [{"label": _cut(name), "share": shares[name]} for name in ranked if name in listed]
    }
    usual = session.mean_temperatures
    if usual and ranked and label in listed and label != ranked[0]:
        times = {name: shares[name] / max(usual[name], 1e-30) for name in ranked}
        answer["stands"] = {
            "label": _cut(label),
            "times": times[label],
            "mean": usual[label],
            "most": times[label] >= max(times.values()),
        }
    return answer


def neighbourhood(session: Session, place: int, paths: Sequence[list[int]] = ()) -> dict[str, Any]:
    """A node, up to 50 neighbours, lowest degrees first, the paths to its strongest seeds, and all neighbours."""
    around = _neighbours(session, place)
    degrees = np.asarray(session.graph.degrees)[around]
    ranked = around[np.argsort(degrees, kind="stable")].tolist()
    near = ranked[:NEIGHBOURS]
    nodes = list(dict.fromkeys([place, *near, *(each for path in paths for each in path)]))
    links = {(place, each) for each in near}.union(*(pairwise(path) for path in paths))
    inside = set(nodes)
    for each in near if len(near) <= 30 else []:
        links |= {(each, other) for other in _neighbours(session, each).tolist() if other in inside and each < other}
    return {
        "nodes": [_brief(session, each) for each in nodes],
        "links": sorted(links),
        "paths": list(paths),
        "neighbours": len(near),
        "list": ranked,
    }


def found(session: Session, text: str, most: int = 20) -> list[dict[str, Any]]:
    """Nodes whose name contains a text: exact matches first, then names that begin with it, then the others.

    After them come nodes whose content has the text.
    """
    places = session.index.find(text, most)
    if len(places) < most:
        places = list(dict.fromkeys([*places, *session.contents.find(text, most)]))[:most]
    return [_brief(session, place) for place in places]


def columns(session: Session) -> list[dict[str, Any]]:
    """The columns by which nodes can be filtered, and whether nodes can be coloured by each."""
    return [{"name": name, "coloured": column.has_colours} for name, column in session.contents.columns.items()]


def values(session: Session, column: str | None, text: str | None = None) -> bytes:
    """A number for each node: its value in a column or, without a column, the entropy of its probabilities.

    With a text, the number is 1 where the column contains the text, and 0 elsewhere. Before the numbers come the length
    of a header and the header, which is JSON: the categories that numbers stand for, or null.
    """
    if column is None:
        found = Values(_entropies(session), None)
    elif column not in session.contents.columns:
        raise ParameterError("there is no such column")
    elif text is None:
        found = session.contents.columns[column].values()
    else:
        found = Values(session.contents.columns[column].find(text.lower()).astype(np.float32), None)
    head = json.dumps({"categories": found.categories}).encode("ascii")
    head += b" " * (-len(head) % 4)
    return np.array([len(head)], "<u4").tobytes() + head + found.values.astype("<f4").tobytes()


def _entropies(session: Session) -> NDArray[np.float32]:
    """(n,) the entropy of each node's probabilities, divided by the largest possible one; NaN where there are none."""
    fitted, nothing = session.fitted, np.full(session.graph.n_nodes, np.nan, np.float32)
    if fitted is None or not fitted.fitted_.outcome.kept:
        return nothing
    chances = _chances(fitted, calibrated=session.calibrated)
    spread = -np.sum(chances * np.log(np.maximum(chances, 1e-30)), axis=1) / np.log(max(2, chances.shape[1]))
    return np.where(fitted.fitted_.outcome.codes >= 0, spread, np.nan).astype(np.float32)


def _chances(fitted: Labeller, *, calibrated: bool) -> Any:
    """(n, K) the probabilities that decide labels, or calibrated ones; before there are any, the temperatures."""
    outcome = fitted.fitted_.outcome
    if outcome.chances is not None:
        return outcome.chances
    return fitted.predict_proba() if calibrated else outcome.temperatures


def briefs(session: Session, places: Sequence[int]) -> list[dict[str, Any]]:
    """Name, label and confidence of some nodes; numbers that no node has are left out."""
    known = [place for place in places[:MOST_BRIEFS] if 0 <= place < session.graph.n_nodes]
    return [_brief(session, place) for place in known]


def _brief(session: Session, place: int) -> dict[str, Any]:
    shown = session.shown
    code = int(shown.codes[place])
    return {
        "id": place,
        "name": _cut(session.names[place]),
        "class": code,
        "label": _cut(session.classes[code]) if code >= 0 else None,
        "confidence": float(shown.confidence[place]),
        "snippet": session.contents.snippet(place),
    }


def _neighbours(session: Session, place: int) -> NDArray[np.int32]:
    """Positions of the neighbours of a node; arcs count in both directions."""
    graph = session.graph
    csr = graph.csr
    around = csr.indices[csr.indptr[place] : csr.indptr[place + 1]]
    if graph.directed:
        heat = graph.heat  # the second half of its rows has the arcs that arrive
        start, end = heat.indptr[graph.n_nodes + place : graph.n_nodes + place + 2]
        around = np.union1d(around, heat.indices[start:end])
    return around[around != place]


def _probabilities(session: Session, place: int) -> list[dict[str, Any]]:
    """The most probable classes of a node."""
    fitted = session.fitted
    if place in session.labels.seeds:
        return [{"label": _cut(session.labels.seeds[place]), "probability": 1.0}]
    if fitted is None or fitted.fitted_.outcome.codes[place] < 0:
        return []
    outcome = fitted.fitted_.outcome
    if not outcome.kept:
        row = np.exp(outcome.best_scores[place] - np.nanmax(outcome.best_scores[place]))
        codes = outcome.best_classes[place]
    else:
        row = _chances(fitted, calibrated=session.calibrated)[place]
        codes = np.arange(len(row))
    row = np.nan_to_num(row) / max(float(np.nansum(row)), 1e-30)
    best = np.argsort(-row, kind="stable")[:PROBABLE]
    names = fitted.classes_
    return [{"label": _cut(names[codes[each]]), "probability": float(row[each])} for each in best if codes[each] >= 0]


def _cut(label: Any, most: int = LONGEST_NAME) -> str:
    return shortened(str(label), most)


def seeds_file(session: Session) -> tuple[str, bytes]:
    """The name and the content of a file of seeds, in the layout of the file that was read."""
    name, layout = session.source
    seeds = session.labels.seeds
    nodes = [session.graph.nodes[place] for place in seeds]
    columns = {role: layout.roles[role] or Column(place + 1) for place, role in enumerate(("node", "label"))}
    if layout.delimiter is not None:
        content = _text(layout, columns, list(zip(nodes, seeds.values(), strict=True)))
        return name, gzip.compress(content, mtime=0) if name.endswith(".gz") else content
    table = {columns["node"].name or "node": nodes, columns["label"].name or "label": list(seeds.values())}
    return _written(name, lambda path: write_table(path, table, force=True))


def labels_file(session: Session) -> tuple[str, bytes]:
    """A table of all nodes with their labels and confidence."""
    fitted = _fitted(session)
    return _written("labels.csv", lambda path: write_labels(path, session.graph, fitted, force=True))


def notes_file(session: Session) -> tuple[str, bytes]:
    """A table of the nodes with notes, and of those about which the person was unsure."""
    labels, ids = session.labels, session.graph.nodes
    places = sorted({place for place, text in labels.notes.items() if text} | labels.unsure)
    table = {
        "node": [ids[place] for place in places],
        "unsure": ["yes" if place in labels.unsure else "" for place in places],
        "note": [labels.notes.get(place, "") for place in places],
    }
    return _written("notes.csv", lambda path: write_table(path, table, force=True))


def model_file(session: Session) -> tuple[str, bytes]:
    """The fitted classifier, for `isotherm.load`."""
    fitted = _fitted(session)
    fitted.seed_columns_ = session.source[1].seed_columns  # `isotherm suggest` writes its sheets with these columns
    return _written("model.npz", lambda path: fitted.save(path, force=True))


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
    return session.for_export()


def _written(name: str, write: Callable[[str], object]) -> tuple[str, bytes]:
    """The name and the content of a file that a function writes to a path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(str(path))
        return name, path.read_bytes()
