"""Readers of text, fuzzed with guidance by coverage: atheris keeps inputs that reach new lines, and changes them.

``python -m tools.fuzz.guided csv 10000`` runs one format. Inputs that reach new lines are in `CORPUS`; a test replays
them, also where atheris is not installed. ``--keep`` adds what this run found.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tools.fuzz.workers import Tally

__all__ = ["CORPUS", "FORMATS", "available", "run"]

CORPUS = Path(__file__).parents[2] / "tests" / "io" / "corpus"
FORMATS = ("csv", "tsv", "txt", "jsonl", "mtx", "graphml", "gexf", "gml", "net", "graph")
LONGEST = 300  # bytes of an input
SECONDS = 20  # for one input


def available() -> bool:
    """Whether atheris is installed."""
    return find_spec("atheris") is not None


def run(suffix: str, seed: int, cases: int, keep: Path | None = None) -> Tally:
    """Fuzz a reader in a process of its own; inputs that reach new lines go to the folder ``keep``."""
    tally = Tally(cases=cases)
    with tempfile.TemporaryDirectory() as name:
        found = keep or Path(name) / "found"
        found.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "tools.fuzz.guided",
            suffix,
            str(cases),
            "--seed",
            str(seed),
            "--inside",
            str(found),
        ]
        ended = subprocess.run(command, capture_output=True, cwd=Path(__file__).parents[2], check=False)
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").splitlines()
            cause = next((line for line in said if line.startswith(("Wrong: ", "ERROR", "==", "Traceback"))), "no word")
            kind = tally.hangs if any("timeout" in line for line in said) else tally.crashes
            (tally.wrong if cause.startswith("Wrong") else kind).append(f"{suffix}: {cause}")
    return tally


def _fuzz(suffix: str, cases: int, seed: int, found: Path) -> None:
    """Hand this process over to libFuzzer, which ends it."""
    import atheris

    with atheris.instrument_imports(include=["isotherm.io"]):
        from tools.fuzz.readers import VALID, fault_of_file

    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    (folder / "valid").mkdir()
    (folder / "valid" / "example").write_bytes(VALID[suffix])

    def attempt(content: bytes) -> None:
        fault = fault_of_file(folder / f"f.{suffix}", suffix, content)
        if fault:
            print(f"Wrong: {fault} for {content!r}", file=sys.stderr, flush=True)
            os._exit(77)

    limits = [f"-runs={cases}", f"-seed={seed + 1}", f"-max_len={LONGEST}", f"-timeout={SECONDS}", "-rss_limit_mb=6000"]
    known = [str(path) for path in (CORPUS / suffix, folder / "valid") if path.is_dir()]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={folder}/", str(found), *known], attempt)
    atheris.Fuzz()


def _keep(suffix: str, found: Path) -> None:
    """Add inputs to the corpus, by names that depend on nothing but their content."""
    (CORPUS / suffix).mkdir(parents=True, exist_ok=True)
    for path in sorted(found.iterdir()):
        content = path.read_bytes()
        (CORPUS / suffix / hashlib.sha256(content).hexdigest()[:12]).write_bytes(content)


def main() -> int:
    """Run one format."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.guided", description=__doc__)
    parser.add_argument("suffix", choices=FORMATS)
    parser.add_argument("cases", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="add inputs that reach new lines to the corpus")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _fuzz(options.suffix, options.cases, options.seed, options.inside)
        return 0
    with tempfile.TemporaryDirectory() as name:
        tally = run(options.suffix, options.seed, options.cases, Path(name))
        if options.keep:
            _keep(options.suffix, Path(name))
    print(*tally.crashes, *tally.hangs, *tally.wrong, f"{tally.failures} failures", sep="\n")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
