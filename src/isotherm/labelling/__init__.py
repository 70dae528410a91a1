"""Labelling: from temperatures to labels, section 3 of the paper.

In come a graph, its seeds and `Settings`. Out comes a `Fit`, whose outcome has one label per node, with all scores or
only the best ones, or a set of labels per node. Read ``fit.py`` first, then ``rules.py``. ``outcome/`` has what a fit
can find, ``changes.py`` adds or drops seeds, ``estimate.py`` says beforehand what a fit will take, ``progress.py``
shows how far it is, and ``metrics.py`` compares labels with true ones. ``scikit_learn/`` has what scikit-learn expects
of a classifier.
"""
