"""Names for the array types that all packages share."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Doubles", "Floats", "Ints", "Mask"]

Floats: TypeAlias = NDArray[np.floating]  # float32 or float64
Doubles: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
