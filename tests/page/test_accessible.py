"""The page for people who see or point differently: axe-core finds nothing to mend."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from page_graphs import write_club
from pages import Server, View, finish

pytest.importorskip("axe_core_python", reason="needs axe-core: pip install axe-core-python")

STATES = {
    "a node": "isotherm.select(isotherm.state.suggestions[0].id, false)",
    "its neighbours": "document.getElementById('tab-around').click()",
    "filters": "document.getElementById('filters').open = true",
    "a class": "isotherm.legend.edit(isotherm.state.order[0])",
    "least certain": "isotherm.lists.open('doubt')",
    "history": "isotherm.lists.open('history')",
    "many": "isotherm.choose([1, 2, 3], isotherm.state.classes[0].name)",
    "lost": "isotherm.lose()",
    "keys": "document.getElementById('keys').showModal()",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(window: Any, tmp_path: Path, scheme: str) -> None:
    axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text()
    write_club(tmp_path)
    with Server(tmp_path, "edges.csv", "seeds.csv") as server:
        view = View(window, server.address, scheme=scheme).ready()
        view.page.evaluate(axe)
        found = {}
        for name, act in {"start": "null", **STATES}.items():
            view.page.evaluate(f"() => {{ {act}; }}")
            view.page.wait_for_timeout(400)
            found[name] = [each["id"] for each in view.page.evaluate("() => axe.run()")["violations"]]
        assert {name: ids for name, ids in found.items() if ids} == {}
        finish(view)
