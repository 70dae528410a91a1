"""Study: how well labels are found, on graphs whose labels are known.

A graph with labels comes in, scores go out. Read ``evaluation.py`` first: it hides labels and scores every rule.
``splits.py`` is cross-validation for any classifier, and ``datasets/`` has graphs with known labels.
"""
