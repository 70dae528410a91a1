"""The hues of classes: the same on the page and in pictures, and different for people with colour-blindness too."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import isotherm.page
from isotherm.page.picture import DEEPER, HUES, NOTHING, PALEST, class_colour

PAGE = Path(isotherm.page.__file__).parent / "static"

# What people see without one kind of cones: Machado, Oliveira and Fernandes (2009), on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1, 1.089])


def lab(colour: str, sight: str) -> NDArray[np.float64]:
    """CIELAB of a colour as someone sees it; a distance of 2 is just noticed."""
    part = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(XYZ @ np.clip(np.array(SIGHT[sight]) @ linear, 0, 1) / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHT)
def test_hues_can_be_told_apart(sight: str) -> None:
    far = [float(np.linalg.norm(lab(one, sight) - lab(other, sight))) for one, other in combinations(HUES, 2)]
    assert min(far) > (30 if sight == "normal" else 15)


def luminance(colour: str) -> float:
    """Relative luminance, as the guidelines for accessible pages define it."""
    part = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return float(XYZ[1] @ np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4))


def mixed(one: str, other: str, share: float) -> str:
    ends = [[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in (one, other)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))


@pytest.mark.parametrize("ground", ["#ffffff", "#15171a"])
def test_all_colours_stand_out_from_light_and_dark(ground: str) -> None:
    def contrast(colour: str) -> float:
        high, low = sorted([luminance(colour), luminance(ground)], reverse=True)
        return (high + 0.05) / (low + 0.05)

    for hue in HUES:
        assert contrast(hue) > 2.4
        assert contrast(mixed(hue, "#000000", DEEPER)) > 1.9
        assert contrast(mixed(hue, ground, PALEST)) > 1.4, "the least certain label"


def test_sixty_classes_have_marks_of_their_own() -> None:
    assert len({class_colour(code) for code in range(20)}) == 20
    assert class_colour(60) == class_colour(99)
    assert class_colour(-1) == tuple(int(NOTHING[at : at + 2], 16) / 255 for at in (1, 3, 5))
    assert class_colour(60) not in {class_colour(code) for code in range(-1, 60)}


def test_the_page_and_pictures_have_the_same_colours() -> None:
    script = (PAGE / "colours.js").read_text()
    assert tuple(re.findall(r"#[0-9a-f]{6}", script)[: len(HUES)]) == HUES
    assert f"PALEST = {PALEST};" in script
    assert f"DEEPER = {DEEPER};" in script
    assert NOTHING in script
