"""Comparison: which method finds hidden labels best, on one graph or on many.

A `Task` comes in: a graph, its known labels, and features if there are any. Every method sees the same seeds, and its
answer is scored on all other labels. Read ``tasks.py`` first, then ``methods.py``, the list of methods; ``ours.py``,
``diffusions.py``, ``regressions.py`` and ``packages.py`` have what they do. ``scores.py`` judges an answer, and
``compare.py`` runs all of it on one graph.
"""
