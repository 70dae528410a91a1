"""Make the pictures of docs/explore.md and the animation of the README: python tests/screenshots.py [NAME ...].

It needs Chromium, playwright and Pillow. A name is that of a graph in page_graphs.py, "nothing" or "animation".
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from page_graphs import GRAPHS, cora, karate
from pages import READY, Server, View, browser
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs" / "explore"
EXPLAINED = "isotherm.panel.near?.nodes[0].id === isotherm.selected && document.querySelector('#seeds li')"
DARK = ("amazon",)  # shown on a dark ground


def shot(window: Any, name: str) -> None:
    """One graph with its second suggestion selected."""
    write, arguments = GRAPHS[name]
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        with Server(Path(place), *arguments) as server:
            view = View(window, server.address, scheme="dark" if name in DARK else "light")
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


def animation(window: Any) -> None:
    """Cora: from one seed of each topic, ten labels that are suggested and right."""
    with tempfile.TemporaryDirectory() as place:
        topics = cora(Path(place))
        with Server(Path(place), "edges.tsv", "seeds.tsv") as server:
            view = View(window, server.address).ready()
            frames = [(view.page.screenshot(), 1500)]
            for _ in range(10):
                view.page.keyboard.press("1")
                view.wait(EXPLAINED)
                view.page.wait_for_timeout(400)
                frames.append((view.page.screenshot(), 700))
                name = view.get("isotherm.panel.node.name")
                given = view.get("isotherm.state.given")
                view.page.evaluate("(label) => isotherm.label(label)", topics[int(name)])
                view.wait(f"isotherm.state.given > {given} && !isotherm.state.busy")
                view.page.wait_for_timeout(400)
                frames.append((view.page.screenshot(), 900))
    pictures = [Image.open(io.BytesIO(content)).convert("RGB") for content, _ in frames]
    images = [picture.resize((960, 540), Image.Resampling.LANCZOS) for picture in pictures]
    palette = images[-1].quantize(255, Image.Quantize.MAXCOVERAGE, 3)
    small = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    times = [*[seconds for _, seconds in frames[:-1]], 3000]
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
