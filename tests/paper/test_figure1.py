"""Figure 1: the paper's claim, its summary and the picture."""

import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray

from isotherm.io import FileError
from isotherm.paper import figure1
from isotherm.paper.figure1 import Result, classify, draw, summary

ROOT = Path(__file__).parents[2]
MISSING = "figure 1 needs matplotlib: pip install 'isotherm[plot]'"


@pytest.fixture(scope="module")
def result() -> Result:
    return classify()


@pytest.fixture(scope="module")
def picture(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("picture") / "figure1.png"
    draw(result, path)
    return path


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


class TestResult:
    def test_temperatures_are_those_of_a_dense_solve(self, result: Result) -> None:
        L = nx.laplacian_matrix(nx.karate_club_graph(), weight=None).toarray().astype(float)
        inside = [node for node in range(34) if node not in (0, 33)]
        expected = np.zeros(34)
        expected[0] = 1
        expected[inside] = np.linalg.solve(L[np.ix_(inside, inside)], -L[inside, 0])
        np.testing.assert_allclose(result.temperatures, expected, atol=1e-9)

    def test_exactly_one_node_is_wrong(self, result: Result) -> None:
        assert np.flatnonzero(~result.right).tolist() == [8]

    def test_the_wrong_node_is_close_to_the_mean(self, result: Result) -> None:
        assert 8 in np.argsort(result.confidence)[:4]
        assert result.confidence[8] < 0.2 * result.confidence.max()

    def test_labels_are_the_sides_of_the_mean(self, result: Result) -> None:
        hot = result.temperatures > np.mean(result.temperatures)
        np.testing.assert_array_equal(result.labels, np.where(hot, "Mr. Hi", "Officer"))


class TestSummary:
    def test_the_summary_is_one_line(self, result: Result) -> None:
        line = summary(result)
        assert "\n" not in line
        assert line.startswith(
            "1 of 34 labels wrong; node 8 is 0.086 from the mean (2 nodes are closer); solver direct"
        )
        assert line.endswith(" seconds")


class TestPicture:
    def test_it_is_a_png_of_decent_size(self, picture: Path) -> None:
        assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        height, width, _ = imread(picture).shape
        assert width >= 1200
        assert height >= 600
        assert picture.stat().st_size > 50_000

    def test_ground_truth_is_in_full_colours_and_the_answer_in_shades(self, picture: Path, result: Result) -> None:
        left, right = panels(picture)
        full = {bytes_of(figure1.FULL[label]) for label in ("Mr. Hi", "Officer")}
        assert full <= common(left)
        shades = {bytes_of(shade) for shade in figure1._colours(result.temperatures, result.mean)}
        assert len(shades) > 15
        assert shades <= common(right)
        assert not (shades - full) & common(left)

    def test_the_less_confident_the_paler(self, result: Result) -> None:
        colours = figure1._colours(result.temperatures, result.mean)
        for label in ("Mr. Hi", "Officer"):
            own = result.labels == label
            lightness = colours[own].sum(axis=1)[np.argsort(result.confidence[own], kind="stable")]
            assert (np.diff(lightness) <= 1e-12).all()

    def test_hues_tell_the_labels_apart(self, result: Result) -> None:
        red, _, blue = figure1._colours(result.temperatures, result.mean).T
        np.testing.assert_array_equal(red > blue, result.labels == "Mr. Hi")

    def test_the_one_in_the_docs_is_current(self, picture: Path) -> None:
        committed, drawn = (imread(path)[..., :3] for path in (ROOT / "docs" / "figure1.png", picture))
        assert committed.shape == drawn.shape
        assert np.abs(committed - drawn).mean() < 0.01

    def test_folders_are_made_and_nothing_else_is_left(self, result: Result, tmp_path: Path) -> None:
        draw(result, tmp_path / "a" / "b" / "figure.svg")
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["figure.svg"]

    def test_a_failure_leaves_the_old_picture(
        self, result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def half(figure: Figure, file: IO[bytes], **options: Any) -> None:
            file.write(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Figure, "savefig", half)
        (tmp_path / "figure1.png").write_bytes(b"old")
        with pytest.raises(FileError, match="the disk is full"):
            draw(result, tmp_path / "figure1.png")
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]

    def test_pyplot_is_left_alone(self, tmp_path: Path) -> None:
        code = "import sys; from isotherm.paper.figure1 import *; draw(classify(), 'f.png'); "
        done = run("-c", code + "sys.exit('matplotlib.pyplot' in sys.modules)", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


def panels(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    pixels = (imread(path)[..., :3] * 255).round().astype(np.uint8)
    upper = pixels[: int(0.8 * len(pixels))]  # without legend and scale
    left, right = np.array_split(upper, 2, axis=1)
    return left, right


def bytes_of(colour: Any) -> tuple[int, ...]:
    return tuple((np.asarray(colour) * 255).round().astype(int).tolist())


def common(pixels: NDArray[np.uint8]) -> set[tuple[int, ...]]:
    """Colours of at least a hundred pixels, with a tolerance of one step in each channel."""
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    steps = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3)
    near = colours[counts >= 100].astype(int)[:, None] + steps
    return set(map(tuple, near.reshape(-1, 3).tolist()))


class TestWithoutMatplotlib:
    def test_draw_says_what_to_install(self, result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("matplotlib", "matplotlib.figure"):
            monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError) as caught:
            draw(result, tmp_path / "figure1.png")
        assert str(caught.value) == MISSING
        assert not list(tmp_path.iterdir())
