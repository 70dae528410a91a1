"""Packages import downhill, `import isotherm` is light, and no file knows the machine it was written on."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import isotherm
from isotherm.node_classifier import RULE_NAMES

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "isotherm"
MAP = (
    (ROOT / "CONTRIBUTING.md")
    .read_text(encoding="utf-8")
    .split("## The packages")[1]
    .split("```text\n")[1]
    .split("```")[0]
)
PACKAGES = [line.split()[0].removesuffix("/").removesuffix(".py") for line in MAP.splitlines()]  # from the top


def files_of(package: str) -> list[Path]:
    return sorted((SOURCE / package).rglob("*.py")) or [SOURCE / f"{package}.py"]


def imported_packages(source: str) -> set[str]:
    """Packages that a module imports, anywhere in its code; "isotherm" for itself and for relative imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            names.add("isotherm")
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            names.update(arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
    parts = [name.split(".") for name in names]
    return {name[1] if len(name) > 1 and name[1] in PACKAGES else "isotherm" for name in parts if name[0] == "isotherm"}


def test_the_list_has_every_package() -> None:
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in SOURCE.glob("*/*.py")}
    assert sorted(PACKAGES) == sorted(modules | packages), "the map is in CONTRIBUTING.md"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_is_below_it(package: str) -> None:
    below = set(PACKAGES[PACKAGES.index(package) :])
    for path in files_of(package):
        upward = imported_packages(path.read_text(encoding="utf-8")) - below
        assert not upward, f"{path.relative_to(ROOT)} imports {', '.join(upward)}"


@pytest.mark.parametrize(
    ("source", "packages"),
    [
        ("from isotherm.equilibrium.solvers.system import System", {"equilibrium"}),
        ("from isotherm import kernels, seeds", {"kernels", "seeds"}),
        ("import isotherm.labelling.rules as r, numpy", {"labelling"}),
        ("def f():\n    from isotherm.dirichlet_classifier import DirichletClassifier", {"dirichlet_classifier"}),
        ("if TYPE_CHECKING:\n    from isotherm.graphs import Graph", {"graphs"}),
        ("importlib.import_module('isotherm.engines.session')", {"engines"}),
        ("import isotherm as iso", {"isotherm"}),
        ("from isotherm import Graph", {"isotherm"}),
        ("from .graph import Graph", {"isotherm"}),
        ("from isothermal.graph import Graph", set()),
    ],
)
def test_imports_are_seen(source: str, packages: set[str]) -> None:
    assert imported_packages(source) == packages


FOLDERS = sorted({path.parent for path in SOURCE.rglob("*.py")} - {SOURCE})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(SOURCE).as_posix())
def test_a_folder_says_what_it_is_for_and_where_to_begin(folder: Path) -> None:
    story = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert story.count(".") >= 3, "a paragraph: what comes in, what goes out, which file to read first"
    named = re.findall(r"`([\w/]+(?:\.py|/))`", story)
    assert named, "it names no file"
    assert all((folder / name).exists() or (ROOT / name).exists() for name in named)


def test_the_guide_names_files_that_exist() -> None:
    """The ideas and the six changes of CONTRIBUTING.md; a name in angle brackets stands for any."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+/(?:\w+\.py)?)`", guide)
    assert len(named) > 20
    places = [ROOT, SOURCE, SOURCE / "equilibrium"]
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


FORBIDDEN = {
    "state is named, not looked up": r"__dict__|vars\(self\)",
    "options are SolveOptions or Settings": r"\*\*options|options: dict\[str, Any\]",
}


@pytest.mark.parametrize("reason", FORBIDDEN)
def test_ways_that_were_given_up(reason: str) -> None:
    found = {
        path.name for path in SOURCE.rglob("*.py") if re.search(FORBIDDEN[reason], path.read_text(encoding="utf-8"))
    }
    assert found == set(), reason


def test_only_rules_know_the_names_of_rules() -> None:
    """Elsewhere a rule is an object that is asked, not a name that is compared."""
    compared = re.compile(rf"[=!]= ?[\"']({'|'.join(RULE_NAMES)})[\"']|[\"']({'|'.join(RULE_NAMES)})[\"'] ?[=!]=")
    found = {path.name for path in SOURCE.rglob("*.py") if compared.search(path.read_text(encoding="utf-8"))}
    assert found == set()


@pytest.mark.parametrize("name", isotherm.__all__)
def test_a_public_name_can_be_imported_and_is_documented(name: str) -> None:
    value = getattr(isotherm, name)
    assert value.__name__ == name
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}(")  # what a dataclass writes for itself


def test_all_names_what_is_public() -> None:
    assert isotherm.__all__ == sorted(isotherm.__all__)
    assert set(isotherm.__all__) <= set(dir(isotherm))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        isotherm.nothing  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_a_module_has_what_its_all_says(package: str) -> None:
    for path in files_of(package):
        inside = path.relative_to(SOURCE.parent).with_suffix("").parts
        module = import_module(".".join(inside).removesuffix(".__init__"))
        assert [name for name in getattr(module, "__all__", []) if not hasattr(module, name)] == []


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert isotherm.__version__ == project["version"]
    assert f"\nversion: {isotherm.__version__}\n" in citation
    assert isotherm.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def run(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def test_the_import_is_fast() -> None:
    seconds = [float(run("import isotherm, time; print(time.process_time())")) for _ in range(3)]
    assert min(seconds) < 0.3


def test_the_import_is_light() -> None:
    loaded = run("import isotherm, sys; print(*sys.modules)").split()
    assert "isotherm" in loaded
    assert not {"matplotlib", "polars", "pandas", "networkx", "igraph", "sklearn", "scipy", "numpy"} & set(loaded)


def test_a_worker_of_a_cluster_starts_without_the_packages_above_it() -> None:
    """scikit-learn would take most of the time that a worker needs to start."""
    loaded = set(run("import isotherm.engines.worker, sys; print(*sys.modules)").split())
    assert not {"sklearn", "pandas", "polars", "scipy.stats", "scipy.optimize", "pyarrow"} & loaded


def test_the_classifier_loads_little_besides_scikit_learn() -> None:
    """Modules are counted, not seconds: 122 took a fifth of the time of scikit-learn's own import."""
    code = "import sys; from sklearn.base import BaseEstimator; before = set(sys.modules)\n"
    loaded = run(code + "import isotherm; isotherm.NodeClassifier; print(*set(sys.modules) - before)").split()
    assert "isotherm.node_classifier" in loaded
    own = [name for name in loaded if name.split(".")[0] == "isotherm"]
    assert not {name.split(".")[0] for name in loaded} - {"isotherm"} - sys.stdlib_module_names
    assert len(own) <= 60
    assert len(loaded) - len(own) <= 5


def test_a_fit_passes_few_files() -> None:
    """From the call of `fit` to the labels: what a newcomer has to open to follow it, with links alone."""
    code = """
import sys, warnings, networkx, isotherm
warnings.simplefilter("ignore")
club, files = networkx.karate_club_graph(), set()
seeds = {node: club.nodes[node]["club"] for node in range(0, 34, 3)}
graph = isotherm.Graph.from_networkx(club)
isotherm.NodeClassifier().fit(graph, seeds)  # lazy imports
sys.setprofile(lambda frame, *_: files.add(frame.f_code.co_filename))
isotherm.NodeClassifier().fit(graph, seeds).labels_
sys.setprofile(None)
print(*files, sep="\\n")"""
    passed = {Path(line).relative_to(SOURCE) for line in run(code).splitlines() if Path(line).is_relative_to(SOURCE)}
    assert {Path("node_classifier.py"), Path("labelling/fit.py"), Path("equilibrium/problem.py")} <= passed
    assert len(passed) <= 37


def test_the_packages_need_nothing_optional() -> None:
    code = f"import sys, isotherm, isotherm.{', isotherm.'.join(PACKAGES)}\nprint(*sys.modules)"
    loaded = run(code).split()
    assert "sklearn" in loaded
    assert not {"matplotlib", "polars", "networkx", "igraph"} & set(loaded)  # scikit-learn itself looks for pandas


def text_files() -> list[Path]:
    folders = [path for name in ("src", "tests", "docs", "benchmarks", "native") for path in (ROOT / name).rglob("*")]
    top = [path for path in ROOT.iterdir() if path.suffix in {".md", ".toml", ".cff", ".yaml", ".txt"}]
    files = [path for path in [*folders, *top, ROOT / "Makefile"] if path.is_file()]
    return [path for path in files if path.suffix not in {".png", ".so", ".pyc"}]


def personal_paths(text: str) -> list[str]:
    homes = "|".join(["home", "Users", "root", "work"])
    return re.findall(rf"(?<![\w.])/(?:{homes})/\w+", text)


def test_no_file_names_a_folder_of_this_machine() -> None:
    files = text_files()
    assert ROOT / "README.md" in files
    assert Path(__file__) in files
    found = {path: personal_paths(path.read_text(encoding="utf-8", errors="replace")) for path in files}
    assert {path: paths for path, paths in found.items() if paths} == {}


def test_personal_paths_are_seen() -> None:
    assert personal_paths("open('" + "/".join(["", "home", "ann", "x.csv'"]) + "')")
    assert not personal_paths("src/work/x, https://example.org/home/x, at home/work")


def test_actions_are_named_by_hash() -> None:
    used = [
        line for path in (ROOT / ".github").rglob("*.yml") for line in path.read_text().splitlines() if "uses:" in line
    ]
    assert len(used) > 5
    assert [line for line in used if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d", line)] == []
