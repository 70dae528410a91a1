"""Development and confirmation: two random halves of the graphs, drawn once and kept in ``halves.json``.

Whatever is chosen by trying is chosen on the development half. The confirmation half is looked at once, at the end.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

__all__ = ["DRAWN", "HALVES", "TWINS", "WITH_FEATURES", "draw"]

FILE = Path(__file__).with_name("halves.json")
SEED = 14
# Two files of one graph: in different halves, the second would confirm what was chosen on the first.
TWINS = (("citeseer", "citeseer_directed"), ("cora", "cora_directed"), ("wikischool_bonald", "wikispeedia"))
WITH_FEATURES = (
    *("acm", "amazon_computers", "amazon_photo", "blogcatalog_attr", "citeseer", "citeseer_directed", "coauthor_cs"),
    *("cora", "cora_directed", "cora_ml_directed", "flickr_attr"),
)


def draw(names: Iterable[str], seed: int = SEED) -> dict[str, list[str]]:
    """Split graphs into two halves at random: the first shuffle in which the halves have the same size.

    That holds for all graphs and for those with features; the halves of an odd number differ by one. Twins stay
    together.

    >>> {half: len(names) for half, names in draw(["cora", "cora_directed", "acm", "polblogs"]).items()}
    {'development': 2, 'confirmation': 2}
    """
    units = _units(sorted(names))
    rng = np.random.default_rng(seed)
    while True:
        first = rng.random(len(units)) < 0.5
        halves = [
            sorted(name for unit, chosen in zip(units, first, strict=True) if chosen == half for name in unit)
            for half in (True, False)
        ]
        rich = [len(set(half) & set(WITH_FEATURES)) for half in halves]
        if abs(len(halves[0]) - len(halves[1])) <= 1 and abs(rich[0] - rich[1]) <= 1:
            return {"development": halves[0], "confirmation": halves[1]}


def _units(names: list[str]) -> list[list[str]]:
    """Twins together, every other graph by itself."""
    twins = [[name for name in pair if name in names] for pair in TWINS]
    alone = [[name] for name in names if not any(name in pair for pair in twins)]
    return sorted([*(pair for pair in twins if pair), *alone])


DRAWN: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8"))
HALVES = {name: half for half, names in DRAWN.items() for name in names}  # the half of each graph
