"""Graphs and seeds in files, to be opened on the page: for tests, screenshots and benchmarks.

Cora is taken from the folder that ISOTHERM_DATA names; the others need nothing.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, save_npz

from isotherm.seeds.encoding import encode_labels
from isotherm.seeds.hiding import sample
from isotherm.study.datasets import debian_packages, karate_club

__all__ = ["GRAPHS", "cora", "cora_words", "debian", "karate", "made_up", "write_club"]

DATA = Path(os.environ.get("ISOTHERM_DATA", "../shared/data"))
TOPICS = ("Theory", "Reinforcement", "Genetic", "Neural", "Probabilistic", "Case based", "Rules")  # of Cora, by number


def write_files(folder: Path, edges: list[tuple[Any, Any]], seeds: dict[Any, Any]) -> None:
    """A graph and its seeds as tables."""
    (folder / "edges.tsv").write_text("source\ttarget\n" + "".join(f"{a}\t{b}\n" for a, b in edges))
    (folder / "seeds.tsv").write_text("node\tlabel\n" + "".join(f"{node}\t{label}\n" for node, label in seeds.items()))


def karate(folder: Path) -> None:
    graph = karate_club().graph
    nodes = graph.nodes.tolist()
    edges = [(nodes[a], nodes[b]) for a, b in zip(graph.csr.rows, graph.csr.indices, strict=True) if a < b]
    write_files(folder, edges, {nodes[0]: "Mr. Hi", nodes[33]: "Officer"})


def cora(folder: Path, each: int = 1) -> list[str]:
    """Some seeds of each topic; gives the topics of all papers."""
    stored = np.load(DATA / "cora.npz", allow_pickle=False)
    topics = [TOPICS[label] for label in stored["labels"]]
    seeds = {int(node): topics[node] for code in range(7) for node in np.flatnonzero(stored["labels"] == code)[:each]}
    write_files(folder, list(zip(stored["row"].tolist(), stored["col"].tolist(), strict=True)), seeds)
    return topics


def cora_words(folder: Path, each: int = 1) -> list[str]:
    """Cora with some seeds of each topic, and the words of its papers; gives the topics of all papers."""
    stored = np.load(DATA / "features" / "cora.npz")
    ones = np.ones(len(stored["indices"]), np.float32)
    save_npz(folder / "words.npz", csr_array((ones, stored["indices"], stored["indptr"]), shape=stored["shape"]))
    return cora(folder, each)


def debian(folder: Path) -> None:
    packages = debian_packages()
    graph, names = packages.graph, packages.graph.nodes
    ends = graph.csr.rows, graph.csr.indices
    codes, _ = encode_labels(packages.labels)
    linked = np.unique(np.concatenate(ends))
    chosen = np.intersect1d(sample("balanced", codes, 0.01, np.random.default_rng(0)), linked)
    seeds = dict(zip(names[chosen], packages.labels[chosen], strict=True))
    write_files(folder, list(zip(names[ends[0]], names[ends[1]], strict=True)), seeds)


def made_up(folder: Path, n: int = 1_000_000, size: int = 5_000) -> None:
    """Communities of one size: each node has three links inside, one in ten has one elsewhere.

    The classes are twelve ranges of communities; 240 nodes drawn at random are seeds.
    """
    rng = np.random.default_rng(0)
    here = np.repeat(np.arange(n), 3)
    inside = here // size * size + rng.integers(size, size=len(here))
    away = rng.choice(n, n // 10)
    ends = np.concatenate([here, away]), np.concatenate([inside, rng.integers(n, size=len(away))])
    matrix = coo_array((np.ones(len(ends[0]), np.float32), ends), shape=(n, n)).tocsr()
    save_npz(folder / "edges.npz", matrix + matrix.T, compressed=False)
    nodes = rng.permutation(n)[:240]
    rows = (f"{node}\tclass {node * 12 // n + 1}\n" for node in nodes)
    (folder / "seeds.tsv").write_text("node\tlabel\n" + "".join(rows))


# How files are written, and the arguments of isotherm explore.
GRAPHS: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "karate": (karate, ["edges.tsv", "seeds.tsv"]),
    "cora": (lambda folder: cora_words(folder, 4), ["edges.tsv", "seeds.tsv", "--features", "words.npz"]),
    "debian": (debian, ["edges.tsv", "seeds.tsv", "--directed"]),
    "made_up": (made_up, ["edges.npz", "seeds.tsv"]),
}


def write_club(folder: Path) -> Path:
    """The Karate Club with its two leaders as seeds, in files."""
    graph = karate_club().graph
    rows = graph.csr.rows.tolist(), graph.csr.indices.tolist()
    nodes = graph.nodes.tolist()
    edges = [f"{nodes[a]},{nodes[b]}" for a, b in zip(*rows, strict=True) if a < b]
    (folder / "edges.csv").write_text("\n".join(["from,to", *edges]) + "\n")
    (folder / "seeds.csv").write_text(f"member;side\n{nodes[0]};Hi\n{nodes[33]};Officer\n")
    return folder
