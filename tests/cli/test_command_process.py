"""What only processes can show: Ctrl-C, kill, two commands at once, pipes, and what is not imported."""

import gzip
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
import zstandard
from commands import EDGES, ISOTHERM, SEEDS, command, interrupt, leftovers, start

from isotherm.cli import main
from isotherm.cli.terminal.process import hidden_panics

OLD = "the old result\n"

# The real command, which says on stderr when it has come to a stage, and stays there.
HALTING = """
import hashlib, sys, time
from isotherm.node_classifier import NodeClassifier
from isotherm.io import output
fit, native = NodeClassifier.fit, "--native" in sys.argv

def told(self, *data, **options):
    print("solving", file=sys.stderr, flush=True)
    if native:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # as a loop in C++: it asks nobody, and takes minutes
    return fit(self, *data, **options)

def halfway(frame, file, *rest):
    file.write(b"node,label,confidence\\nann,t")
    file.flush()
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)

NodeClassifier.fit = told
if "--halt" in sys.argv:
    output._write = halfway
from isotherm.cli import main
sys.argv = [word for word in sys.argv if word not in ("--halt", "--native")]
sys.exit(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "seeds.csv").write_text(SEEDS)
    (tmp_path / "old.csv").write_text(OLD)
    return tmp_path


def halting(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    code = [sys.executable, "-c", HALTING, "classify", *arguments, "-o", "old.csv", "--force"]
    pipe = subprocess.PIPE
    return subprocess.Popen(code, cwd=folder, stdin=pipe, stderr=pipe, text=True, preexec_fn=_heed_hang_ups)


def _heed_hang_ups() -> None:
    """As from a terminal, also if the tests are run by nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for(process: "subprocess.Popen[str]", word: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.strip() == word:
            return
    pytest.fail(f"it ended before {word}")


def write_grid(folder: Path, side: int = 150) -> None:
    across = (f"{i}_{j},{i}_{j + 1}\n" for i in range(side) for j in range(side - 1))
    down = (f"{i}_{j},{i + 1}_{j}\n" for i in range(side - 1) for j in range(side))
    (folder / "grid.csv").write_text("source,target\n" + "".join(across) + "".join(down))
    (folder / "corners.csv").write_text(f"node,label\n0_0,a\n{side - 1}_{side - 1},b\n")


LONG = ("grid.csv", "corners.csv", "--solver", "sweeps", "--tol", "1e-12", "--max-iter", "100000000")


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
STAGES = {
    "solving": LONG,
    "solving in C++": ("edges.csv", "seeds.csv", "--native"),
    "writing": ("edges.csv", "seeds.csv", "--halt"),
}


@pytest.mark.parametrize("number", SIGNALS, ids=["ctrl-c", "term", "hang-up", "kill"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_signal_while_working(folder: Path, stage: str, number: signal.Signals) -> None:
    write_grid(folder)
    process = halting(folder, *STAGES[stage])
    wait_for(process, stage.split()[0])
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert (folder / "old.csv").read_text() == OLD
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        return
    assert process.returncode == 128 + number
    assert leftovers(folder) == []
    assert "Traceback" not in err
    if number == signal.SIGINT:
        assert err == "isotherm: interrupted\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_a_signal_while_reading_from_a_pipe_that_is_silent(folder: Path, number: signal.Signals) -> None:
    read, write = os.pipe()
    arguments = [*ISOTHERM, "classify", "-", "seeds.csv", "-o", "old.csv", "--force"]
    process = subprocess.Popen(arguments, cwd=folder, stdin=read, stderr=subprocess.PIPE, text=True)
    os.close(read)
    try:
        os.write(write, b"source,target\n")
        os.write(write, b"ann,bob\n" * 60_000)  # more than the pipe holds: some of it was read
        process.send_signal(number)
        _, err = process.communicate(timeout=300)
    finally:
        os.close(write)
    assert (folder / "old.csv").read_text() == OLD
    assert leftovers(folder) == []
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert err == ("isotherm: interrupted\n" if number == signal.SIGINT else "")


CALLER = """
import signal, sys
import polars
from isotherm.io import read_graph
try:
    print("reading", file=sys.stderr, flush=True)
    read_graph("silent.mtx")
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("the caller goes on", file=sys.stderr, flush=True)
"""


def test_ctrl_c_gives_a_caller_control_again(folder: Path) -> None:
    os.mkfifo(folder / "silent.mtx")  # which nobody opens to write: a read would wait for ever
    process = subprocess.Popen([sys.executable, "-c", CALLER], cwd=folder, stderr=subprocess.PIPE, text=True)
    wait_for(process, "reading")
    interrupt(process)
    assert "the caller goes on" in process.communicate()[1]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "csv.zst"])
def test_killed_while_a_large_file_is_written(folder: Path, suffix: str) -> None:
    """The real command, killed as soon as its draft has content; it may have ended by then."""
    write_grid(folder, 300)
    (folder / f"old.{suffix}").write_text(OLD)
    arguments = ["grid.csv", "corners.csv", "-o", f"old.{suffix}", "--force", "-q", "--temperatures"]
    process = start("classify", *arguments, folder=folder)
    while process.poll() is None and not any(path.stat().st_size for path in folder.glob(".old.*.tmp")):
        time.sleep(0.001)
    process.kill()
    process.communicate(timeout=300)
    content = (folder / f"old.{suffix}").read_bytes()
    if process.returncode == -signal.SIGKILL and content == OLD.encode():
        assert len(leftovers(folder)) <= 1
    else:  # it was faster: then the new file is whole
        frame = pl.read_parquet(content) if suffix == "parquet" else pl.read_csv(content)
        assert frame.height == 300 * 300
    again = command("classify", *arguments, folder=folder)
    assert again.status == 0, again.err  # a draft that was left is not in the way


def test_of_two_commands_at_once_the_first_to_end_wins_without_force(folder: Path) -> None:
    write_grid(folder, 60)
    both = [
        start("classify", "grid.csv", "corners.csv", "-o", "new.csv", "-q", "--rule", rule, folder=folder)
        for rule in ("centered", "relative")
    ]
    said = [process.communicate(timeout=300)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    loser = next(process for process in both if process.returncode)
    sentence = said[both.index(loser)]
    assert "new.csv" in sentence
    assert "is kept; choose another name, or overwrite it with --force\n" in sentence
    assert leftovers(folder) == []


def test_two_commands_at_once_leave_one_whole_result(folder: Path) -> None:
    write_grid(folder, 60)
    both = [
        start("classify", "grid.csv", "corners.csv", "-o", "old.csv", "--force", "--rule", rule, folder=folder)
        for rule in ("centered", "relative")
    ]
    results = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], results
    whole = [
        command("classify", "grid.csv", "corners.csv", "-q", "--rule", rule, folder=folder).out
        for rule in ("centered", "relative")
    ]
    assert (folder / "old.csv").read_text() in whole
    assert leftovers(folder) == []


def test_a_reader_that_has_seen_enough_is_no_error(folder: Path) -> None:
    write_grid(folder, 120)
    with start("classify", "grid.csv", "corners.csv", "-q", folder=folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "node,label,confidence\n"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=300) == 0


def test_bars_are_drawn_on_a_terminal_and_leave_it_as_it_was(folder: Path) -> None:
    write_grid(folder, 100)
    ours, theirs = pty.openpty()
    arguments = [*ISOTHERM, "classify", "grid.csv", "corners.csv", "-o", "l.csv", "--solver", "cg"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(arguments, cwd=folder, stderr=theirs, env=environment)
    os.close(theirs)
    drawn = "".join(iter(lambda: _read(ours), ""))
    os.close(ours)
    assert process.wait(timeout=300) == 0
    assert all(stage in drawn for stage in ("reading", "solving", "writing"))
    assert re.search(r"error \de-\d\d, tol 1e-03, iteration \d+", drawn)
    assert drawn.rindex("\033[?25h") > drawn.rindex("\033[?25l")  # the cursor is shown again
    assert "written      10,000 rows to l.csv" in drawn.split("\033")[-1]


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:  # Linux has an error for the end of a terminal
        return ""


def test_what_no_command_uses_is_not_loaded(folder: Path) -> None:
    code = "import sys, isotherm.cli\nisotherm.cli.main()\nprint(*sys.modules)\nimport scipy.stats\n"
    code += "print(scipy.stats.norm.cdf(0))"
    by_heat = ["--evidence", "none", "-o", "l.csv", "-q"]
    arguments = [sys.executable, "-c", code, "classify", "edges.csv", "seeds.csv", *by_heat]
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    loaded, half = result.stdout.splitlines()
    assert "sklearn.base" in loaded.split()
    heavy = {"scipy.stats._stats_py", "scipy.spatial._kdtree", "pandas.core.api", "numpy.f2py.f2py2e"}
    slow = {"isotherm.kernels.reference", "isotherm.map_layout", "numpy.testing._private.utils", "scipy.optimize"}
    assert not (heavy | slow) & set(loaded.split())
    assert half == "0.5"  # it is there when it is asked for


def test_the_collector_still_works_but_leaves_modules_alone() -> None:
    code = """
import gc, sys, weakref, isotherm.cli
isotherm.cli.main()
class Node: pass
node = Node()
node.itself, seen = node, weakref.ref(node)
del node
gc.collect()
print(gc.isenabled(), seen(), gc.get_freeze_count() > 10_000)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, "cite"], capture_output=True, text=True, timeout=300, check=True
    )
    assert result.stdout.splitlines()[-1] == "True None True"


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, isotherm.cli\nisotherm.cli.main(['--help'])\nprint(*sys.modules, file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert "classify" in result.stdout
    assert not {"numpy", "scipy", "polars", "sklearn", "matplotlib", "networkx"} & set(result.stderr.split())


def test_standard_input_and_output(folder: Path) -> None:
    process = start("classify", "-", "seeds.csv", "-q", folder=folder)
    out, err = process.communicate(EDGES, timeout=300)
    assert out.splitlines()[:2] == ["node,label,confidence", "ann,tea,1.0"]
    assert err == ""
    assert process.returncode == 0


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.compress], ids=["gzip", "zstandard"])
def test_standard_input_may_be_compressed(folder: Path, packed: Callable[[bytes], bytes]) -> None:
    (folder / "packed").write_bytes(packed(EDGES.encode()))
    shell = f"cat packed | {sys.executable} -m isotherm classify - seeds.csv -q"
    result = subprocess.run(shell, shell=True, cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    assert result.stdout == command("classify", "edges.csv", "seeds.csv", "-q", folder=folder).out


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ("- seeds.csv -q <&-", 2, "isotherm: standard input is closed; give a file instead\n"),
        ("edges.csv seeds.csv -q >&-", 2, "isotherm: standard output cannot be written: Bad file descriptor"),
        ("edges.csv seeds.csv -o new.csv 2>&-", 0, ""),
        ("edges.csv seeds.csv -o new.csv --rule centered --no-confidence >&-", 0, "edges.csv: source=col 1"),
    ],
)
def test_streams_that_are_closed(folder: Path, words: str, status: int, sentence: str) -> None:
    shell = f"{sys.executable} -m isotherm classify {words}"
    result = subprocess.run(shell, shell=True, cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == status
    assert result.stderr.startswith(sentence)
    assert (folder / "new.csv").exists() == (status == 0)


def test_a_terminal_that_knows_ascii_only(folder: Path) -> None:
    (folder / "seeds.csv").write_text("node,label\nann,th\u00e9\ngus,coffee\n", encoding="utf-8")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    outcome = command("classify", "edges.csv", "seeds.csv", "-o", "new.csv", folder=folder, **plain)
    assert outcome.status == 0
    assert "coffee      1  50.0%       4  57.1%  ###########\n" in outcome.err
    assert "th\\xe9" in outcome.err
    assert "ann,th\u00e9,1.0" in (folder / "new.csv").read_text(encoding="utf-8")


def test_an_error_inside_says_how_to_report_it(folder: Path) -> None:
    broken = "from isotherm.io import output\noutput._frame = None"
    code = f"{broken}\nimport isotherm.cli, sys\nsys.exit(isotherm.cli.main())"
    arguments = [sys.executable, "-c", code, "classify", "edges.csv", "seeds.csv", "-o", "old.csv", "--force"]
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "please report" in result.stderr.splitlines()[-1]
    assert (folder / "old.csv").read_text() == OLD


def test_without_cyclopts_one_line_says_what_to_install(folder: Path) -> None:
    code = "import sys\nsys.modules['cyclopts'] = None\nimport isotherm.cli\nsys.exit(isotherm.cli.main(['demo']))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert result.returncode == 2
    assert result.stderr == "isotherm: the command line needs cyclopts: pip install 'isotherm[cli]'\n"


def test_panics_of_compiled_code_are_hidden(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", os.fdopen(2, "w", closefd=False))
        with hidden_panics():
            os.write(2, b"thread panicked\n")
            print("progress", file=sys.stderr)
        os.write(2, b"after\n")
    assert capfd.readouterr().err == "progress\nafter\n"


def test_a_signal_to_a_forked_worker_does_not_end_the_command() -> None:
    code = """
import os, signal, time
from isotherm.cli.terminal.process import exit_at_once, handle_signals
handle_signals()
with exit_at_once():
    worker = os.fork()
    if not worker:
        time.sleep(60)
    time.sleep(0.2)
    os.kill(worker, signal.SIGTERM)
    os.waitpid(worker, 0)
    time.sleep(0.5)
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def test_a_caller_may_take_what_is_printed(folder: Path) -> None:
    """A text in memory has no number of a file."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["classify", str(folder / "edges.csv"), str(folder / "seeds.csv"), "-o", str(folder / "o.csv")])
    assert status == 0, err.getvalue()
    assert "rows to" in err.getvalue()
    assert out.getvalue() == ""
