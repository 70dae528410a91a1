"""Which code was measured, and whether it still is the code."""

import subprocess
from pathlib import Path

from benchmarks.results import Run

__all__ = ["measured_commit", "stale"]

ROOT = Path(__file__).parents[1]
CODE = ("src", "native")


def measured_commit() -> str:
    """The commit of the code that is measured; empty if it has changes, or is no checkout."""
    if _git("status", "--porcelain", "--", *CODE) != "":
        return ""
    return _git("rev-parse", "--short=10", "HEAD") or ""


def stale(runs: list[Run]) -> list[str]:
    """What was measured with other code than the present, in words."""
    words = []
    for run in runs:
        changed = _git("diff", "--name-only", run.commit, "--", *CODE) if run.commit else None
        if changed:
            words.append(f"{run.suite} ({run.isa}, {run.commit}): {len(changed.splitlines())} files changed since")
        elif changed is None:
            words.append(f"{run.suite} ({run.isa}, {run.date}): its commit is not known")
    return words


def _git(*arguments: str) -> str | None:
    """What git says; None if it fails."""
    found = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None
