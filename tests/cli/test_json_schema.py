"""What commands print with --json: it follows docs/json-schema.json, which says what each field means."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Run, runner
from jsonschema import Draft202012Validator

from isotherm.cli.app import app

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "json-schema.json").read_text(encoding="utf-8"))
SETS = ("--more-seeds", "more.csv", "--multi-label")
CASES: dict[str, list[tuple[str, ...]]] = {
    "classify": [(), ("--features", "items.csv"), ("--rule", "vanilla", "--no-confidence"), SETS],
    "update": [("answers.csv",)],
    "explain": [("n1", "n7", "lonely"), ("n1", "--features", "items.csv"), ("n1", *SETS)],
    "check": [("-n", "5")],
    "evaluate": [("--fraction", "0.5", "--runs", "2"), ("--fraction", "0.5", "--runs", "1", "--rule", "vanilla")],
    "compare": [("--runs", "1", "--no-peers", "--fraction", "0.5")],
}


def validator(command: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{command}", "$defs": SCHEMA["$defs"]})


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.fixture
def files(run: Run) -> Run:
    """A ring of 40 nodes and a pair that no seed reaches, with a model of it."""
    edges = [f"n{i},n{(i + step) % 40},{1 + i % 3}" for i in range(40) for step in (1, 2)]
    Path("edges.csv").write_text("\n".join(["from,to,weight", *edges, "lonely,alone,1"]))
    known = [f"n{i},{'left' if i < 20 else 'right'}" for i in range(0, 40, 2)]
    Path("seeds.csv").write_text("\n".join(["account,verdict", *known]))
    Path("more.csv").write_text("account,verdict\nn0,round\n")
    Path("answers.csv").write_text("account,verdict\nn1,left\n")
    rows = [f"n{i},{i if i % 7 else ''},{'red' if i < 18 else 'blue'}" for i in range(40)]
    Path("items.csv").write_text("\n".join(["account,age,colour", *rows]))
    assert run("classify", "edges.csv", "seeds.csv", "-o", "labels.csv", "--save", "model.npz", "-q").status == 0
    return run


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "more"), [(name, more) for name, cases in CASES.items() for more in cases])
def test_what_is_printed_follows_the_schema(files: Run, command: str, more: tuple[str, ...]) -> None:
    names = ["model.npz"] if command == "update" else ["edges.csv", "seeds.csv"]
    table = ["-o", "again.csv"] if command in ("classify", "update") else []
    outcome = files(command, *names, *more, *table, "--json", "-q")
    assert outcome.status == 0, outcome.err
    printed = json.loads(outcome.out)
    validator(command).validate(printed)
    if command == "classify":
        assert printed["columns_read"]["edges.csv"] == {"source": "from", "target": "to", "weight": "weight"}
        assert printed["columns_read"]["seeds.csv"] == {"node": "account", "label": "verdict"}
    if "items.csv" in more and command == "classify":
        assert set(printed["feature_columns"]) == {"age", "colour"}


def test_columns_without_names_are_numbered(run: Run) -> None:
    Path("edges.csv").write_text("a,b\nb,c\nc,d\n")
    Path("seeds.csv").write_text("a,x\nd,y\n")
    printed = json.loads(run("classify", "edges.csv", "seeds.csv", "-o", "out.csv", "--json", "-q").out)
    assert printed["columns_read"] == {
        "edges.csv": {"source": 1, "target": 2, "weight": None},
        "seeds.csv": {"node": 1, "label": 2},
    }


def test_every_command_with_json_has_a_schema() -> None:
    having = {name for name in app if not name.startswith("-") and "--json" in _options(name)}
    assert having == set(SCHEMA["$defs"]) == set(CASES)
    Draft202012Validator.check_schema(SCHEMA)


def _options(name: str) -> list[Any]:
    return [each for argument in app[name].assemble_argument_collection() for each in argument.names]
