"""Experts: what tells the classes of nodes besides their temperatures.

An expert is made from a `Knowledge` (evidence, graph, seeds), and answers a `Question` with log-probabilities. Read
``expert.py`` first. ``regression.py`` learns classes from features, ``diffusion.py`` spreads features over the graph
first, ``boosting.py`` goes by thresholds of a few features, ``spectral.py`` takes features from the graph itself,
``compatibility.py`` learns which classes are neighbours of which, and ``majority.py`` goes by the nodes around. To add
an expert, write a file with a function that makes it, or gives None where it does not apply, and add a line to
`EXPERTS`.
"""

from collections.abc import Callable

from isotherm.probability.experts.diffusion import diffusion
from isotherm.probability.experts.expert import Expert, Knowledge, Question, given
from isotherm.probability.experts.majority import majority
from isotherm.probability.experts.regression import convolution, features, neighbours, trees
from isotherm.probability.experts.spectral import compatibility, degree, spectrum

__all__ = ["EXPERTS", "HEAT", "STRUCTURAL", "Expert", "Knowledge", "Question"]

HEAT = "heat"

EXPERTS: dict[str, Callable[[Knowledge], Expert | None]] = {
    "features": features,
    "neighbours": neighbours,
    "convolution": convolution,
    "diffusion": diffusion,
    "spectrum": spectrum,
    "degree": degree,
    "compatibility": compatibility,
    "majority": majority,
    "trees": trees,
    "evidence": given,
}
STRUCTURAL = {HEAT, "spectrum", "degree", "compatibility"}  # experts that need nothing but the graph
