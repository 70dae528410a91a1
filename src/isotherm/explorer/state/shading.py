"""What the map shows of each node: its class, and how strong its colour is.

Strength is the calibrated confidence, or with few seeds how far the class stands out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles

__all__ = ["FEW", "HUES", "Shown", "warmth"]

FEW = 20  # seeds; with fewer, calibrated confidence is flat
HUES = 10  # classes that have a colour of their own
FAINTEST = 0.15  # strength of the weakest colour
STRONG = 0.95  # quantile of the margins from which on colour has full strength
SEED = 255  # the shade of a seed


class Shown:
    """What the map shows, as of one version.

    Attributes
    ----------
    codes : ndarray of int16, shape (n,)
        The class number of each node, -1 for none.
    confidence : ndarray of float32, shape (n,)
        From 0 to 1; 1 for seeds.
    shades : ndarray of uint8, shape (n,)
        The confidence as it is sent to the page: from 0 to 254, and 255 for seeds.
    version : int
        Grows with every change.
    """

    def __init__(
        self, codes: NDArray[np.int16], confidence: NDArray[np.float32], shades: NDArray[np.uint8], version: int
    ) -> None:
        self.codes, self.confidence, self.shades, self.version = codes, confidence, shades, version

    @classmethod
    def nothing(cls, n: int, version: int = 0) -> "Shown":
        """Nodes without labels."""
        return cls(np.full(n, -1, np.int16), np.zeros(n, np.float32), np.zeros(n, np.uint8), version)

    def of(self, codes: NDArray[np.int16], confidence: Doubles) -> "Shown":
        """The next version: the labels of a fit."""
        known = np.where(codes >= 0, confidence, 0).astype(np.float32)
        shades = np.clip(np.rint(known * (SEED - 1)), 0, SEED - 1).astype(np.uint8)
        return Shown(codes, known, shades, self.version + 1)

    def with_seeds(self, seeds: dict[int, int]) -> "Shown":
        """The next version: these nodes are seeds of the classes with these numbers."""
        codes, confidence, shades = self.codes.copy(), self.confidence.copy(), self.shades.copy()
        places = np.fromiter(seeds, np.int64, len(seeds))
        codes[places] = np.fromiter(seeds.values(), np.int16, len(seeds))
        confidence[places], shades[places] = 1, SEED
        return Shown(codes, confidence, shades, self.version + 1)

    @property
    def guessed(self) -> NDArray[np.bool_]:
        """(n,) the nodes that have a label and are not seeds."""
        return (self.codes >= 0) & (self.shades < SEED)


def warmth(outcome: Any) -> Doubles:
    """(n,) the margin between the two best classes of each node, scaled to strengths of colour."""
    margins = np.nan_to_num(np.asarray(outcome.margins(), np.float64))
    top = np.quantile(margins[margins > 0], STRONG) if (margins > 0).any() else 1
    return FAINTEST + (1 - FAINTEST) * np.clip(margins / top, 0, 1)
