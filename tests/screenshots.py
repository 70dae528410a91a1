"""Make the pictures of docs/explore.md and the animation of the README: python tests/screenshots.py [NAME ...].

It needs Chromium, playwright and Pillow. A name is that of a graph in page_graphs.py, "nothing" or "animation".
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from page_graphs import GRAPHS, cora_words, karate
from pages import READY, Server, View, browser
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs" / "explore"
EXPLAINED = "isotherm.panel.near?.nodes[0].id === isotherm.selected && document.querySelector('#seeds li')"


def shot(window: Any, name: str) -> None:
    """One graph with its second suggestion selected."""
    write, arguments = GRAPHS[name]
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        with Server(Path(place), *arguments) as server:
            view = View(window, server.address)
            view.wait(READY, seconds=300)
            view.page.keyboard.press("2")
            view.wait(EXPLAINED)
            view.page.wait_for_timeout(1500)
            save(view.page.screenshot(), DOCS / f"{name}.png")
            assert view.errors == []


def nothing(window: Any) -> None:
    """Karate without seeds, in the dark, where the page asks for classes."""
    with tempfile.TemporaryDirectory() as place:
        karate(Path(place))
        with Server(Path(place), "edges.tsv") as server:
            view = View(window, server.address, scheme="dark").ready()
            view.page.fill("#names", "Mr. Hi\nOfficer")
            save(view.page.screenshot(), DOCS / "nothing.png")


COUNTER = """([text]) => {
  const centre = document.getElementById("centre");
  const sign = document.getElementById("counter") ?? centre.appendChild(document.createElement("p"));
  sign.id = "counter";
  sign.textContent = text;
  sign.style.cssText = "position: absolute; left: 12px; top: 0; margin: 4px 0; font-size: 24px; font-weight: 700";
}"""


def animation(window: Any) -> None:
    """Cora: from one seed of each topic, ten labels that are suggested and right, with the accuracy that they give.

    The window is as wide as a README, so that the text is not shrunk; the lists are folded.
    """
    with tempfile.TemporaryDirectory() as place:
        topics = cora_words(Path(place))
        with Server(Path(place), "edges.tsv", "seeds.tsv", "--features", "words.npz") as server:
            view = View(window, server.address, width=860, height=600).ready()
            view.page.click("#fold-left")
            view.page.mouse.move(2, 2)
            view.page.evaluate("() => document.activeElement.blur()")
            truth = [topics[int(name)] for name in view.get("isotherm.map.names")]

            def frame(milliseconds: int) -> None:
                codes, levels = view.get("[[...isotherm.map.codes], [...isotherm.map.levels]]")
                names = ["", *view.get("isotherm.map.classNames")]
                right = [names[code] == truth[i] for i, code in enumerate(codes) if levels[i] < 255]
                seeds = view.get("isotherm.state.seeds")
                reached.append((str(seeds), f"{sum(right) / len(right):.2f}".lstrip("0")))
                ends = zip(
                    reached[0], reached[-1], strict=True
                )  # the first and the last number of labels, and accuracy
                labels, accuracy = (" → ".join(dict.fromkeys(each)) for each in ends)
                view.page.evaluate(COUNTER, [f"{labels} labels, accuracy {accuracy}"])
                view.page.wait_for_timeout(300)
                frames.append((view.page.screenshot(), milliseconds))

            frames: list[tuple[bytes, int]] = []
            reached: list[tuple[str, str]] = []
            frame(1500)
            view.page.keyboard.press("1")
            for _ in range(10):
                view.wait(EXPLAINED)
                frame(900)
                node, given = view.get("[isotherm.selected, isotherm.state.given]")
                view.page.keyboard.press(view.get(f"isotherm.keyOf(isotherm.codeOf('{truth[node]}'))"))
                view.wait(f"isotherm.state.given > {given} && !isotherm.state.busy")
            frame(3000)
    images = [Image.open(io.BytesIO(content)).convert("RGB") for content, _ in frames]
    palette = images[-1].quantize(255, Image.Quantize.MAXCOVERAGE, 3)
    small = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    times = [milliseconds for _, milliseconds in frames]
    small[0].save(DOCS / "label.gif", save_all=True, append_images=small[1:], duration=times, loop=0, optimize=True)


def save(content: bytes, path: Path) -> None:
    """Keep a picture with 256 colours, which is a third of the size."""
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    picture.quantize(256, Image.Quantize.MAXCOVERAGE, 2, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    DOCS.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or [*GRAPHS, "nothing", "animation"]
    with browser() as window:
        for name in wanted:
            if name in GRAPHS:
                shot(window, name)
            else:
                {"nothing": nothing, "animation": animation}[name](window)
            print(name, flush=True)


if __name__ == "__main__":
    main()
