"""The Pythons of this machine for which Isotherm is built: one of each version from 3.11 to 3.14."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def find(named: list[str]) -> dict[str, str]:
    """Paths of interpreters by version; named ones come first, and a version that is not there is left out."""
    found: dict[str, str] = {}
    for candidate in [*named, *_usual_places()]:
        version = _version(candidate)
        if version in VERSIONS:
            found.setdefault(version, candidate)
    return dict(sorted(found.items()))


def _usual_places() -> Iterator[str]:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    uv = Path.home() / ".local/share/uv/python"
    for version in VERSIONS:
        on_path = shutil.which(f"python{version}")
        yield from [on_path] if on_path else []
        yield from sorted(str(path) for place in (pyenv, uv) for path in place.glob(f"*/bin/python{version}"))


def _version(interpreter: str) -> str:
    """Such as 3.12; empty if it does not run, as a shim of pyenv for a version that is not chosen."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([interpreter, "-I", "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
