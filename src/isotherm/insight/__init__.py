"""Insight: what a fit can tell besides labels.

In comes a `Fit`; out come probabilities, prediction sets, explanations, suggestions and saved models. No part of it
sees the estimator. Read ``insight.py`` first: it calls the others on demand. ``confidence/`` estimates how certain
labels are, ``explain/`` finds the seeds that heat a node, ``suggest/`` finds the nodes to label next, and ``saving.py``
saves a fit to a file.
"""
