"""How far few keystrokes reach on a real graph, and that long sessions stay as fast as short ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_graphs import DATA, cora, cora_words
from pages import SETTLED, Server, View, finish
from reach import keystrokes, many_labels

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "cora.npz").exists(), reason="needs the folder that ISOTHERM_DATA names"),
]


def test_from_nothing_to_seventy_percent_in_thirty_keystrokes(window: Any, tmp_path: Path) -> None:
    topics = cora_words(tmp_path)
    with Server(tmp_path, "edges.tsv", "--features", "words.npz") as server:
        view = View(window, server.address).ready()
        assert keystrokes(view, topics, 0.70, 30) <= 30
        finish(view)


def test_many_labels_in_a_row(window: Any, tmp_path: Path) -> None:
    topics = cora(tmp_path, each=3)
    with Server(tmp_path, "edges.tsv", "seeds.tsv") as server:
        view = View(window, server.address).ready()
        took, (first, last) = many_labels(view, topics, 200)
        assert np.median(took[-50:]) < 1.5 * np.median(took[:50]) + 10
        assert last < first + 10e6
        view.wait(f"isotherm.state.given === 200 && {SETTLED}")
        finish(view)
