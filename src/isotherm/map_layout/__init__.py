"""The map: a place in the plane for each node, found from the links alone.

In comes a symmetric matrix in compressed sparse rows. Out come positions (n, 2): neighbours are near each other, dense
parts are islands, and small components are in a strip below. Labels play no part, so a map stays as it is while labels
change. Read ``placement.py`` first. ``forces.py`` makes smaller versions of a graph and moves their nodes, and
``cache.py`` keeps finished maps on disk. `Graph.layout` calls this package.
"""

from isotherm.map_layout.placement import kept_or_placed, place

__all__ = ["kept_or_placed", "place"]
