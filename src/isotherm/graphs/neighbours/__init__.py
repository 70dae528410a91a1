"""Graphs of nearest neighbours: from a table of vectors to edges.

In comes a table, dense or sparse, of numbers. Out come the nearest rows of each row with their distances, and a matrix
of weights between them. ``table.py`` validates the table and prepares its rows, ``search.py`` finds the nearest rows,
and ``edges.py``, to be read first, joins rows to their neighbours by weighted edges.
"""

from isotherm.graphs.neighbours.edges import WEIGHTS, Neighbours, ScaleWarning, ZeroRowWarning

__all__ = ["WEIGHTS", "Neighbours", "ScaleWarning", "ZeroRowWarning"]
