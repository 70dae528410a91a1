"""How far few keystrokes reach on a real graph, and that long sessions stay as fast as short ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from page_graphs import DATA, TOPICS, cora, cora_words
from pages import SETTLED, Server, View, finish

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "cora.npz").exists(), reason="needs the folder that ISOTHERM_DATA names"),
]


def accuracy(view: View, truth: NDArray[Any]) -> float:
    """The share of right labels among the papers that were not labelled."""
    codes, levels = (np.array(view.get(f"[...isotherm.map.{name}]")) for name in ("codes", "levels"))
    names = np.array(["", *view.get("isotherm.map.classNames")])
    return float((names[codes] == truth)[levels < 255].mean())


def test_from_nothing_to_seventy_percent_in_thirty_keystrokes(window: Any, tmp_path: Path) -> None:
    topics = cora_words(tmp_path)
    with Server(tmp_path, "edges.tsv", "--features", "words.npz") as server:
        view = View(window, server.address).ready()
        view.page.fill("#names", "\n".join(TOPICS))
        view.page.click("#start button")
        view.wait(f"isotherm.state.order.length === {len(TOPICS)} && {SETTLED}")
        view.page.evaluate("() => document.activeElement.blur()")
        truth = np.array([topics[int(name)] for name in view.get("isotherm.map.names")])
        view.page.keyboard.press("1")
        strokes = 1
        while strokes < 30 and not (strokes > 10 and accuracy(view, truth) >= 0.70):
            node, given = view.get("[isotherm.selected, isotherm.state.given]")
            view.page.keyboard.press(view.get(f"isotherm.keyOf(isotherm.codeOf('{truth[node]}'))"))
            view.wait(f"isotherm.state.given > {given} && isotherm.selected !== {node} && {SETTLED}")
            strokes += 1
        assert accuracy(view, truth) >= 0.70
        finish(view)


def test_five_hundred_labels_in_a_row(window: Any, tmp_path: Path) -> None:
    topics = cora(tmp_path, each=3)
    with Server(tmp_path, "edges.tsv", "seeds.tsv") as server:
        view = View(window, server.address).ready()
        view.page.evaluate(
            """async (topics) => {
              const took = [], page = window.isotherm;
              for (let turn = 0; turn < 500; turn++) {
                const node = 5 * turn; // of 2,708; some are seeds already
                page.select(node, false);
                const began = performance.now();
                await page.label(topics[Number(page.map.names[node])]);
                took.push(performance.now() - began);
                if (turn === 50 || turn === 499) (window.heaps ??= []).push(performance.memory.usedJSHeapSize);
              }
              window.took = took;
            }""",
            topics,
        )
        took = np.array(view.get("took"))
        early, late = np.median(took[:100]), np.median(took[-100:])
        assert late < 2 * early + 20
        first, last = view.get("heaps")
        assert last < first + 30e6
        view.wait(f"isotherm.state.given === 500 && {SETTLED}")
        finish(view)
