"""What scikit-learn expects of a classifier, and what it would do to a graph if nobody stopped it.

A graph and labels in any of the usual forms come in; validated nodes and seeds go out to the fit, and its labels come
back as fitted attributes and predictions. Read ``estimator.py`` first: it is the base of the classifiers.
``folds.py`` has a graph that cross-validation can split by nodes without cutting it.
"""
