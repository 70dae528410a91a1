"""Insight: what a fit tells besides labels.

In comes a `Fit`; out come explanations of nodes, nodes to label next, and seeds that look wrong. Read
``explanation.py`` for the seeds that heat a node, with the paths of ``paths.py``; ``suggestion.py`` for the nodes most
worth labelling, which compares nodes by ``likeness.py``; and ``doubt.py`` for doubtful seeds.
"""
