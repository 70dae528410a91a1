"""Experts: what else is known about nodes besides the links, and how it is combined with the heat.

In come a `Fit`, its held-out seeds, and `Evidence`: features of nodes, probabilities of another model, or the spectrum
of the graph. Out comes a `Combination`, which has one probability for each class and node. Read ``combination.py``
first. ``evidence.py`` reads what users give, ``regression.py`` learns classes from features, ``spectral.py`` finds
features in the graph itself, and ``panel.py`` asks all experts, about all nodes and about hidden seeds.
"""
