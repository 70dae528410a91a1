"""Isotherm for single cells in AnnData: `label_transfer`, in the manner of scanpy's tools."""

from isotherm.bridges.cells import label_transfer

__all__ = ["label_transfer"]
