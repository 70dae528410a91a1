"""Study: how well labels are found, on graphs whose labels are known.

A graph with labels comes in, scores go out. Read ``evaluation.py`` first: it hides labels and scores every rule.
``comparison.py`` compares methods, which ``methods.py`` lists and ``peers.py`` implements. Both give every method the
same draws of seeds (``tasks.py``) and judge the answers in the same way (``scores.py``); ``score_tables.py`` shows the
scores. ``splits.py`` is cross-validation for any classifier, and ``datasets/`` has graphs with known labels.
"""
