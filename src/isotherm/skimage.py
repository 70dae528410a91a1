"""Isotherm for images: `random_walker`, a drop-in for scikit-image's."""

from isotherm.bridges.images import random_walker

__all__ = ["random_walker"]
