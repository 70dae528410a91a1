"""Old names of options work until 0.4, and name the new ones."""

from pathlib import Path

import pytest
from commands import Run, options_of, runner

from isotherm.cli.app import NEW_NAMES, NEW_NAMES_OF_COMMANDS


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "old", "value"),
    [
        (["classify", "edges.csv", "seeds.csv"], "--seeds", "more.csv"),
        (["classify", "edges.csv", "seeds.csv"], "--edges", "links.csv"),
        (["explain", "edges.csv", "seeds.csv", "bob"], "--top", "1"),
        (["suggest", "edges.csv", "seeds.csv"], "--policy", "margin"),
    ],
)
def test_an_old_name_works_as_the_new_one(
    run: Run, arguments: list[str], old: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("more.csv").write_text("node,label\ndan,tea\n")
    Path("links.csv").write_text("source,target,weight\nbob,gus,9\n")
    new = (NEW_NAMES | NEW_NAMES_OF_COMMANDS.get(arguments[0], {}))[old]
    assert new in options_of(arguments[0])
    assert old not in options_of(arguments[0])
    wanted = run(*arguments, new, value).out
    assert wanted != run(*arguments).out
    for given in ([old, value], [f"{old}={value}"]):
        outcome = run(*arguments, *given)
        assert (outcome.status, outcome.out) == (0, wanted)
        assert outcome.err.startswith(f"isotherm: warning: {old} is now {new}; the old name works until 0.4\n")
    assert run(*arguments, old, value, "-q").err == ""
    variable, newer = (name.replace("--", "ISOTHERM_").replace("-", "_").upper() for name in (old, new))
    monkeypatch.setenv(variable, value)
    outcome = run(*arguments)
    assert (outcome.status, outcome.err) == (2, f"isotherm: {variable} is now {newer}: rename it\n")


def test_the_old_name_of_an_option_of_the_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"--names"} == {"--names", "--title"}.intersection(options_of("explore"))
    assert {"--title"} == {"--names", "--title"}.intersection(options_of("plot"))
    for given in (["--title", "heading"], ["--title=heading"]):
        warning, error = run("explore", "edges.csv", "seeds.csv", *given).err.splitlines()
        assert warning == "isotherm: warning: --title is now --names; the old name works until 0.4"
        assert error.startswith("isotherm: --names heading, but no table of nodes has this column")
    monkeypatch.setenv("ISOTHERM_TITLE", "heading")
    outcome = run("explore", "edges.csv", "seeds.csv")
    assert (outcome.status, outcome.err) == (2, "isotherm: ISOTHERM_TITLE is now ISOTHERM_NAMES: rename it\n")


def test_every_old_name_is_tried() -> None:
    assert [*NEW_NAMES, *(name for names in NEW_NAMES_OF_COMMANDS.values() for name in names)] == [
        *("--edges", "--seeds", "--top", "--policy", "--title")
    ]
