"""A smoke test of an install: the compiled kernels are there, a fit is right, and the command works.

It is run by the interpreter of an environment that has the wheel and nothing else of this project. With the argument
``plain``, the install was made without a compiler, and the kernels must be those in SciPy.
"""

import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import isotherm
from isotherm import kernels


def main(*, plain: bool) -> None:
    """End with an error at the first thing that is wrong."""
    assert (kernels.native is None) == plain, f"the kernels are {kernels.description()}"
    assert "site-packages" in isotherm.__file__, f"this is not the wheel: {isotherm.__file__}"
    licences = {file.name for file in metadata.files("isotherm") or [] if "licenses" in file.parts}
    assert {"LICENSE", "LICENSE-nanobind.txt"} <= licences, f"the wheel has the licences {licences}"
    path = isotherm.Graph.from_edges(range(99), range(1, 100))
    labels = isotherm.DirichletClassifier(rule="centered").fit(path, {0: "left", 99: "right"}).labels_
    assert list(labels) == ["left"] * 50 + ["right"] * 50
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "edges.csv").write_text("source,target\nann,bob\nbob,cat\ncat,dan\n", encoding="utf-8")
        (Path(folder) / "seeds.csv").write_text("node,label\nann,tea\ndan,coffee\n", encoding="utf-8")
        command = [sys.executable, "-m", "isotherm", "classify", "edges.csv", "seeds.csv", "-o", "labels.csv", "-q"]
        subprocess.run(command, cwd=folder, check=True)
        rows = (Path(folder) / "labels.csv").read_text(encoding="utf-8").split()
    assert rows[0] == "node,label,confidence"
    assert [row.split(",")[1] for row in rows[1:]] == ["tea", "tea", "coffee", "coffee"]
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}: Isotherm {isotherm.__version__}, kernels {kernels.description()}")


if __name__ == "__main__":
    main(plain=sys.argv[1:] == ["plain"])
