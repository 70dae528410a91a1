"""Put what the examples of the pages print into the pages, and the pictures that they draw beside them.

``python -m tools.pages docs/tutorials/papers.md`` runs the examples of these pages, all pages by default. An example is
a block of Python or of commands (```sh) with a block of text after it, which is replaced. The commands of a page run in
one folder, one block after the other; each block of Python runs in a folder of its own. Pictures that the page shows
and the examples drew are copied. The tests run the same blocks and compare.
"""

import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Example", "alike", "examples", "launchers", "pictures"]

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```(python|sh)\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+)\)")
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
COSTS = re.compile(r"^(?:seconds|peak memory) .*\n", re.MULTILINE)  # other at each run, so pages do not show them
UNSTEADY = re.compile(r"residual .*|(?<=±)(.*) \d+\.\d\d(?= +best$|$)", re.MULTILINE)  # and CPU seconds after scores
WIDTH = 1100  # pixels of a picture, at most
CLOSE = 0.02  # difference of numbers that another processor may make, relative or absolute


class Example(NamedTuple):
    """A block of code in a page; `text` is None if the page does not show what it prints."""

    language: str
    code: str
    text: str | None


def examples(page: str) -> list[Example]:
    """All blocks of Python and of commands, in their order."""
    return [Example(*found) for found in (match.groups() for match in BLOCK.finditer(page))]


def pictures(page: str) -> list[str]:
    """The pictures that the page shows and that are in its folder."""
    return PICTURE.findall(page)


def alike(shown: str, printed: str) -> bool:
    r"""Whether two outputs are the same but for times, blanks, the length of bars, and the last digits of numbers.

    >>> alike("accuracy  0.82 ███\nseconds  1.2\n", "accuracy 0.81 ██\nseconds  9.9\n")
    True
    >>> alike("accuracy  0.82\n", "accuracy  0.89\n")
    False
    """
    left, right = _steady(shown), _steady(printed)
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right), strict=False)
    close = (math.isclose(_value(one), _value(other), rel_tol=CLOSE, abs_tol=CLOSE) for one, other in pairs)
    return NUMBER.sub("0", left) == NUMBER.sub("0", right) and all(close)


def _steady(text: str) -> str:
    return " ".join(re.sub(r"[\u2580-\u259f]+", "", UNSTEADY.sub(r"\1", COSTS.sub("", text))).split())


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def launchers(folder: Path) -> str:
    """Make ``isotherm`` and ``python`` commands of this environment, and return the path on which they are found."""
    folder.mkdir(exist_ok=True)
    for name, module in {"isotherm": "-m isotherm", "python": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (folder / name).chmod(0o755)
    return f"{folder.resolve()}:{os.environ['PATH']}"


def run(example: Example, folder: Path) -> str:
    """What an example prints: warnings and summaries first, then results."""
    interpreter = [sys.executable, "-"] if example.language == "python" else ["bash", "-e"]
    path = launchers(folder / "bin")
    done = subprocess.run(
        interpreter, input=example.code, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{example.code}\n{done.stderr}")
    return COSTS.sub("", done.stderr) + done.stdout if example.language == "sh" else done.stdout


def _outputs(page: str, folder: Path) -> Iterator[str | None]:
    for place, example in enumerate(examples(page)):
        own = folder if example.language == "sh" else folder / str(place)
        own.mkdir(exist_ok=True)
        shown = example.text is not None
        printed = run(example, own) if shown or example.language == "sh" else ""
        same = alike if example.language == "sh" else str.__eq__
        yield printed if shown and not same(example.text or "", printed) else example.text


def refresh(path: Path) -> None:
    """Run the examples of a page, write their outputs into it and copy their pictures."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        outputs = _outputs(page, Path(name))

        def replaced(match: re.Match[str]) -> str:
            output = next(outputs)
            return match[0] if output is None else f"```{match[1]}\n{match[2]}```\n\n```text\n{output}```"

        path.write_text(BLOCK.sub(replaced, page), encoding="utf-8")
        for picture in pictures(page):
            for drawn in Path(name).rglob(picture):
                _shrink(drawn, path.parent / picture)


def _shrink(drawn: Path, kept: Path) -> None:
    """Keep a picture smaller and with 256 colours: it then takes a third of the room."""
    from PIL import Image

    picture = Image.open(drawn).convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    octree = Image.Quantize.FASTOCTREE  # keeps rare hues apart, which others merge
    picture.quantize(256, octree, dither=Image.Dither.NONE).save(kept, optimize=True)


if __name__ == "__main__":
    pages = [Path(name) for name in sys.argv[1:]]
    for page in pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        print(page, flush=True)
        refresh(page)
