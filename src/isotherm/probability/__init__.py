"""Probability: how probable each class is at each node, learnt by hiding seeds.

In come temperatures, seeds and evidence; out come probabilities of all nodes, and a `Learnt` that says how they were
found. Read ``learning.py`` first. ``hidden_seeds.py`` hides seeds and solves without them, ``calibration.py`` turns
temperatures into probabilities with the features of ``node_features.py``, ``combination.py`` weighs the experts of
``experts/``, and ``trial.py`` judges the result. ``evidence.py`` reads what users know besides links,
``kind_weights.py`` weighs kinds of edges, and ``label_odds.py`` calibrates labels of which a node may have several.
"""
