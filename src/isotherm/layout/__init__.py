"""The map: a place in the plane for each node, found from the links alone.

In comes a symmetric matrix in compressed sparse rows. Out come positions (n, 2): neighbours are near each other, dense
parts are islands, and small components are in a strip below. Labels play no part, so a map stays as it is while labels
change. Read ``placement.py`` first. ``levels.py`` makes ever smaller versions of a graph, and ``forces.py`` moves their
nodes. ``unfolding.py`` is for small graphs, ``strip.py`` for small components, and ``cache.py`` keeps finished maps on
disk. `Graph.layout` is the door.
"""

from isotherm.layout.placement import kept_or_placed, place

__all__ = ["kept_or_placed", "place"]
