"""How far few keystrokes reach on Cora, and long sessions on it: for tests and benchmarks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from page_graphs import TOPICS
from pages import SETTLED, View

# Label every fifth node; the milliseconds of each answer, and the heap after 50 labels and after all.
MANY_LABELS = """async ([topics, count]) => {
  const took = [], heaps = [], page = window.isotherm;
  for (let turn = 0; turn < count; turn++) {
    const node = 5 * turn; // of 2,708; some are seeds already
    page.select(node, false);
    const began = performance.now();
    await page.label(topics[Number(page.map.names[node])]);
    took.push(performance.now() - began);
    if (turn === 50 || turn === count - 1) heaps.push(performance.memory.usedJSHeapSize);
  }
  return [took, heaps];
}"""


def accuracy(view: View, truth: NDArray[Any]) -> float:
    """The share of right labels among the papers that were not labelled."""
    codes, levels = (np.array(view.get(f"[...isotherm.map.{name}]")) for name in ("codes", "levels"))
    names = np.array(["", *view.get("isotherm.map.classNames")])
    return float((names[codes] == truth)[levels < 255].mean())


def keystrokes(view: View, topics: list[str], aim: float, most: int) -> int:
    """Keystrokes until the labels of an unlabelled Cora reach an accuracy, or ``most``; each label is right.

    The names of the classes are given before. The first key selects the first suggestion; each other one is a label,
    after which the page goes on by itself.
    """
    view.page.fill("#names", "\n".join(TOPICS))
    view.page.click("#start button")
    view.wait(f"isotherm.state.order.length === {len(TOPICS)} && {SETTLED}")
    view.page.evaluate("() => document.activeElement.blur()")
    truth = np.array([topics[int(name)] for name in view.get("isotherm.map.names")])
    view.page.keyboard.press("1")
    strokes = 1
    while strokes < most and accuracy(view, truth) < aim:
        node, given = view.get("[isotherm.selected, isotherm.state.given]")
        view.page.keyboard.press(view.get(f"isotherm.keyOf(isotherm.codeOf('{truth[node]}'))"))
        view.wait(f"isotherm.state.given > {given} && isotherm.selected !== {node} && {SETTLED}")
        strokes += 1
    return strokes if accuracy(view, truth) >= aim else most + 1


def many_labels(view: View, topics: list[str], count: int = 500) -> tuple[NDArray[Any], list[float]]:
    """Milliseconds of each of these labels in a row, and the heap in bytes after the first 50 and after all."""
    took, heaps = view.page.evaluate(MANY_LABELS, [topics, count])
    return np.array(took), heaps
