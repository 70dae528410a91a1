"""Explanations: the seeds that heat a node.

In come a `Fit` and nodes. Out comes an `Explanation` for each node: a table of seeds with their shares, and the most
probable path to each seed. Read ``explanation.py`` first; ``paths.py`` finds the paths.
"""
