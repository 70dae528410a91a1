"""Labelling: from temperatures to labels, section 3 of the paper.

In come a graph, its seeds and `Settings`. Out comes a `Fit`, whose outcome has one label per node, with all scores or
only the best ones, or a set of labels per node. Read ``fit.py`` first, then ``rules.py``. ``outcomes.py`` and
``several.py`` define the outcomes, ``ranking.py`` keeps the best scores of many classes, ``changes.py`` adds or drops
seeds, ``certainty.py`` finds the labels that are certain, and ``metrics.py`` compares labels with true ones. For
scikit-learn, ``estimator.py`` has what it expects of a classifier, and ``folds.py`` a graph that it cannot cut.
"""
