"""Names for the array types that all packages share."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Doubles", "Floats", "Frame", "Ints", "Mask", "Opinion"]


class Frame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""


Floats: TypeAlias = NDArray[np.floating]  # float32 or float64
Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Opinion: TypeAlias = NDArray[Any] | Sequence[Sequence[float]] | Mapping[Any, Any] | Frame  # probabilities of classes
