"""The map as one HTML file that needs nothing else: it can be mailed, opened without a network, panned and searched."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from isotherm.explorer.picture.drawing import COLOURS, DARK, MapData

__all__ = ["html"]

TEMPLATE = Path(__file__).parent / "viewer.html"
LONGEST_NAME = 200


def html(data: MapData, title: str) -> str:
    """The page of a map."""
    told = {
        "title": title,
        "classes": data.classes,
        "counts": data.counts,
        "colours": {"light": COLOURS, "dark": DARK},
        "strength": data.strength,
        "few": data.few,
        "unreached": int((data.codes < 0).sum()),
        "edges": _packed(data.edges.astype("<u4")),
        "seeds": data.seeds.tolist(),
        "names": [name[:LONGEST_NAME] for name in data.names],
        "positions": _packed(data.positions.astype("<f4")),
        "codes": _packed((data.codes + 1).astype("<u2")),
        "confidence": _packed(np.rint(255 * data.confidence).astype(np.uint8)),
        "spots": [None if (spot := data.spot(code)) is None else spot.tolist() for code in range(len(data.classes))],
    }
    # Nothing in the data can end the script element: every "<" is escaped.
    text = json.dumps(told, ensure_ascii=True).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("/*DATA*/", text)


def _packed(values: Any) -> str:
    return base64.b64encode(values.tobytes()).decode()
