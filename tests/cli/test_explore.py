"""``isotherm explore`` and ``isotherm plot``: what is refused before a page is opened, and what is drawn."""

import socket
from pathlib import Path

import pytest
from commands import Run, runner


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.csv"], "missing.csv"),
        (["edges.csv", "seeds.csv", "--log", "edges.csv"], "edges.csv, line 1 is damaged"),
        (["edges.csv", "seeds.csv", "--log", "none/log"], "none/log cannot be opened: No such file or directory"),
        (["edges.csv", "several.csv", "--multi-label"], "but these have several labels: give one label for each node"),
        (["edges.csv", "soft.csv", "--label-probability", "p"], "one certain label each, but these have probabilities"),
        (["edges.csv", "trusted.csv", "--seed-weight", "w"], "one certain label each, but these have weights"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    Path("several.csv").write_text("node,label\nann,tea\nann,milk\ngus,coffee\n")
    Path("soft.csv").write_text("node,label,p,w\nann,tea,0.7,1\nann,milk,0.3,1\ngus,tea,1,0.5\n")
    Path("trusted.csv").write_text("node,label,w\nann,tea,0.5\ngus,coffee,0.8\n")
    before = Path("edges.csv").read_bytes()
    outcome = run("explore", *arguments, "--no-browser", "-q")
    assert outcome.status == 2
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1
    assert Path("edges.csv").read_bytes() == before


def test_a_port_that_is_taken(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = run("explore", "edges.csv", "--port", str(taken.getsockname()[1]), "--no-browser", "-q")
    assert outcome.status == 2
    assert "cannot be used: Address already in use; leave --port out for a free one" in outcome.err


@pytest.mark.parametrize("name", ["map.png", "map.svg", "map.html"])
def test_maps_are_drawn(run: Run, name: str) -> None:
    outcome = run("plot", "edges.csv", "seeds.csv", "-o", name)
    assert outcome.status == 0, outcome.err
    assert f"the map of 7 nodes to {name}" in outcome.err
    assert Path(name).stat().st_size > 1000
    assert run("plot", "edges.csv", "seeds.csv", "-o", name).status == 2, "it is kept"


def test_another_kind_of_picture_is_refused(run: Run) -> None:
    outcome = run("plot", "edges.csv", "seeds.csv", "-o", "map.txt", "-q")
    assert (outcome.status, Path("map.txt").exists()) == (2, False)
    assert "map.txt must end in .png, .svg, .pdf, .html" in outcome.err
