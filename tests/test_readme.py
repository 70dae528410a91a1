"""The README: its examples run as pasted, its links lead somewhere, its numbers are what comes out."""

import logging
import os
import re
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from benchmarks.claims import MARK, filled
from benchmarks.claims import PAGES as WITH_CLAIMS
from scipy.sparse import csr_matrix
from tools.pages import alike, examples

import isotherm as iso

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
WRITTEN = [ROOT / "README.md", *(page for page in ROOT.glob("docs/**/*.md") if page.parent.name != "reproduction")]
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in WRITTEN}
EXAMPLES = [
    pytest.param(name, each.code, each.text, id=f"{name}-{place}")
    for name, text in PAGES.items()
    for place, each in enumerate(each for each in examples(text) if each.language == "python")
    if each.text is not None
]


def test_every_python_example_has_its_output() -> None:
    assert sum(str(example.id).startswith("README") for example in EXAMPLES) == README.count("```python") >= 1


@pytest.mark.parametrize(("page", "code", "output"), EXAMPLES)
def test_an_example_works_as_pasted(
    page: str,
    code: str,
    output: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if ("ISOTHERM_DATA" in code or 'load("' in code) and "ISOTHERM_DATA" not in os.environ:
        pytest.skip("needs real graphs: set ISOTHERM_DATA to their folder")
    if "import scanpy" in code:
        pytest.importorskip("scanpy")
    monkeypatch.chdir(tmp_path)  # an example may write files
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(logging.root, "handlers", [])  # an example may choose its own, but not for later tests
    try:
        exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    finally:
        logging.getLogger("isotherm").setLevel(logging.NOTSET)
    printed = capsys.readouterr().out
    assert alike(output, printed) if page.startswith("docs/gallery/") else output == printed
    for picture in re.findall(r'"([\w-]+\.png)"', code):
        assert (tmp_path / picture).stat().st_size > 0
        assert (ROOT / page).with_name(picture).exists()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(document: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / document).read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert not missing


def test_the_commands_exist() -> None:
    rules = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md"):
        used = set(re.findall(r"(?:^    |`)make (\w+)", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE))
        assert {"demo", "test", "lint", "bench"} <= used <= rules


@pytest.mark.parametrize("path", WITH_CLAIMS, ids=lambda path: path.name)
def test_numbers_are_those_of_the_measurements(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert page == filled(page), "run: python -m benchmarks.claims"


def test_every_number_of_the_readme_is_measured_or_comes_out_of_an_example() -> None:
    prose = re.sub(r"```.*?```|^    .*?$|`[^`]*`|\]\([^)]*\)|arXiv:\S+", "", README, flags=re.DOTALL | re.MULTILINE)
    unmarked = re.findall(r"\d[\d.,]*", MARK.sub("", prose))
    # Protocols, the year of the paper, the oldest Python, and the list of steps.
    expected = {"1", "5", "20", "2020", "3.11", "2.", "3.", "4.", "1.", "3"}
    assert {number.rstrip(",") for number in unmarked} - expected == set()
    assert len(MARK.findall(README)) >= 10


def test_the_terminal_of_the_readme_is_that_of_the_tutorial() -> None:
    command, shown = re.findall(r"```console\n(.*?)```\s*```text\n(.*?)```", README, re.DOTALL)[0]
    tutorial = examples(PAGES["docs/tutorials/fraud-review.md"])
    (text,) = [each.text for each in tutorial if each.code == command]
    assert text is not None
    assert text.endswith(shown)


def ours(G: nx.Graph) -> Any:
    return iso.NodeClassifier().fit(G, {0: 0, 199: 1}).labels_


def of_networkx(G: nx.Graph) -> Any:
    nx.set_node_attributes(G, {0: 0, 199: 1}, "label")
    return nx.node_classification.harmonic_function(G)


def of_scikit_network(G: nx.Graph) -> Any:
    from sknetwork.classification import DiffusionClassifier

    return DiffusionClassifier().fit_predict(csr_matrix(nx.to_scipy_sparse_array(G)), {0: 0, 199: 1})


def of_scikit_learn(G: nx.Graph) -> Any:
    from sklearn.semi_supervised import LabelPropagation

    known = np.full(200, -1)
    known[[0, 199]] = 0, 1
    kernel = nx.to_numpy_array(G)
    return LabelPropagation(kernel=lambda *_: kernel).fit(np.arange(200)[:, None], known).transduction_


@pytest.mark.filterwarnings("ignore:max_iter=1000 was reached")
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Isotherm", ours),
        ("networkx", of_networkx),
        ("scikit-network", of_scikit_network),
        ("scikit-learn", of_scikit_learn),
    ],
)
def test_the_comparison_holds(name: str, label: Callable[[nx.Graph], Any]) -> None:
    row = re.search(rf"^\| {name} ?([\d.]*).*?(\d+) / (\d+)", PAGES["docs/which-tool.md"], re.MULTILINE)
    assert row
    if row[1] and row[1] != version(name):
        pytest.skip(f"the page compares with {name} {row[1]}, and {version(name)} is installed")
    counts = Counter(np.asarray(label(nx.path_graph(200))).tolist())
    assert (counts[0], counts[1]) == (int(row[2]), int(row[3]))
