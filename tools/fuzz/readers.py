"""Readers of files: any bytes give a result or one sentence."""

import gzip
import io
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import scipy.sparse as sp
import zstandard
from scipy.io import savemat

from isotherm.io import read_graph, read_seeds
from isotherm.study.datasets.pickles import load_pickle
from tools.fuzz.mutate import generator, mutated

__all__ = ["FORMATS", "VALID", "case", "fault", "fault_of_file", "read_sound_graph"]

FRAME = pl.DataFrame({"source": ["a", "b", "é", 'x"y'], "target": ["b", "c", "a b", "7"], "weight": [1.0, 2, 3.5, 0]})
PATH = nx.path_graph(4)


def _written(write: Callable[[Any], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


CSV = FRAME.write_csv().encode()
VALID = {
    "csv": CSV,
    "tsv": FRAME.write_csv(separator="\t").encode(),
    "txt": b"# c\n1 2 3\n2 3 4\n4  5\t6\n",
    "csv.gz": gzip.compress(CSV),
    "csv.zst": zstandard.compress(CSV),
    "parquet": _written(FRAME.write_parquet),
    "arrow": _written(FRAME.write_ipc),
    "ipc": _written(FRAME.write_ipc_stream),
    "jsonl": FRAME.write_ndjson().encode(),
    "mtx": b"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 0.5\n3 1 2\n",
    "npz": _written(lambda file: sp.save_npz(file, sp.csr_array(nx.to_scipy_sparse_array(PATH)))),
    "graphml": _written(lambda file: nx.write_graphml(PATH, file)),
    "gexf": _written(lambda file: nx.write_gexf(PATH, file)),
    "graph": b"% c\n3 2 001\n2 5\n1 5 3 7\n2 7\n",
    "pickle": pickle.dumps(
        {"names": np.array(["a", "b"], dtype=object), "x": [(1, 2.5), {3: None}], "y": np.eye(2)}, 2
    ),
    "mat": _written(lambda file: savemat(file, {"A": sp.csc_array(nx.to_scipy_sparse_array(PATH)), "y": np.eye(4)})),
    "gml": _written(lambda file: nx.write_gml(PATH, file)),
    "net": _written(lambda file: nx.write_pajek(PATH, file)),
}
FORMATS = tuple(VALID)
PACKERS: dict[str, Callable[[bytes], bytes]] = {"csv.gz": gzip.compress, "csv.zst": zstandard.compress}
NO_SEEDS = ("mtx", "npz", "graphml", "gexf", "graph", "net")


def case(suffix: str, seed: int, number: int) -> str | None:
    """What is wrong with the answer to one damaged file; None if nothing is."""
    rng = generator(seed, FORMATS.index(suffix), number)
    before_packing = suffix in PACKERS and number % 2  # most accidents after it are found by a checksum
    content = PACKERS[suffix](mutated(CSV, rng)) if before_packing else mutated(VALID[suffix], rng)
    if suffix == "pickle":
        return fault(load_pickle, content, "data.p")
    with tempfile.TemporaryDirectory() as folder:
        return fault_of_file(Path(folder) / f"f.{suffix}", suffix, content)


def fault_of_file(path: Path, suffix: str, content: bytes) -> str | None:
    """What is wrong with the answers to a file with this content."""
    path.write_bytes(content)
    found = None if suffix == "jsonl" else fault(read_sound_graph, path)
    return found if found or suffix in NO_SEEDS else fault(read_seeds, path)


def read_sound_graph(path: Path) -> None:
    """Read a graph, and check its weights."""
    weights = read_graph(path).adjacency.data
    assert np.all((weights > 0) & np.isfinite(weights)), "a graph with impossible weights"


def fault(read: Callable[..., Any], *arguments: Any) -> str | None:
    """How a reader fails, unless it says one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(*arguments)
        except (ValueError, TypeError) as error:
            return f"several lines: {error}" if "\n" in str(error) else None
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
    return None
