"""Insight: what a fit tells besides labels.

In comes a `Fit`; out come explanations of nodes, and nodes to label next. Read ``explanation.py`` for the seeds that
heat a node, with the paths of ``paths.py``; and ``suggestion.py`` for the nodes most worth labelling, which compares
nodes by ``likeness.py``.
"""
