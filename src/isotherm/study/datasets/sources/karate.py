"""Zachary's Karate Club: 34 members, 78 friendships, and the split that followed.

W. W. Zachary, "An Information Flow Model for Conflict and Fission in Small Groups", Journal of Anthropological
Research 33 (1977), 452-473. Members are numbered from 0 here and from 1 there.
"""

import numpy as np

from isotherm.graphs import Graph
from isotherm.study.datasets.base import Dataset

__all__ = ["karate_club"]

# fmt: off
FRIENDS = {  # each edge once, at its lower end
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31),
    1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32),
    3: (7, 12, 13),
    4: (6, 10),
    5: (6, 10, 16),
    6: (16,),
    8: (30, 32, 33),
    9: (33,),
    13: (33,),
    14: (32, 33),
    15: (32, 33),
    18: (32, 33),
    19: (33,),
    20: (32, 33),
    22: (32, 33),
    23: (25, 27, 29, 32, 33),
    24: (25, 27, 31),
    25: (31,),
    26: (29, 33),
    27: (33,),
    28: (31, 33),
    29: (32, 33),
    30: (32, 33),
    31: (32, 33),
    32: (33,),
}

WITH_MR_HI = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21)

POSITIONS = (
    (-0.65, 0.13), (-0.18, 0.35), (-0.08, -0.12), (-0.28, -0.13), (-0.82, -0.30), (-0.42, -0.56), (-0.47, -0.76),
    (-0.33, 0.08), (-0.12, -0.40), (0.10, -0.02), (-0.78, -0.57), (-0.95, 0.01), (-0.42, -0.28), (-0.03, 0.20),
    (0.69, -0.15), (0.20, -0.74), (-0.17, -0.68), (-0.33, 0.55), (0.92, -0.15), (0.07, 0.64), (0.60, -0.57),
    (-0.13, 0.61), (0.74, -0.40), (0.69, 0.27), (0.55, 0.80), (0.78, 0.67), (0.95, 0.26), (0.33, 0.79),
    (0.29, 0.49), (0.72, 0.06), (0.15, -0.47), (0.64, 0.49), (0.43, -0.34), (0.45, 0.09),
)
# fmt: on


def karate_club() -> Dataset:
    """The Karate Club, labelled by the side each member took: "Mr. Hi" (node 0) or "Officer" (node 33).

    Examples
    --------
    >>> club = karate_club()
    >>> club.graph
    <Graph: 34 nodes, 78 edges>
    >>> club.labels[[0, 33]].tolist()
    ['Mr. Hi', 'Officer']
    """
    source, target = zip(*((low, high) for low, friends in FRIENDS.items() for high in friends), strict=True)
    labels = np.full(len(POSITIONS), "Officer", dtype=object)
    labels[list(WITH_MR_HI)] = "Mr. Hi"
    graph = Graph.from_edges(source, target, nodes=range(len(POSITIONS)))
    return Dataset("Karate Club", graph, labels, np.array(POSITIONS))
