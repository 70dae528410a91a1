"""Labelling: from temperatures or probabilities to labels.

In come a graph, its seeds, `Settings` and perhaps evidence; out comes a frozen `Fit`. Read ``fit.py`` first.
``rules.py`` compares temperatures (section 3 of the paper) or probabilities. What was found is an outcome: one label
per node in ``outcomes.py``, or sets of labels in ``label_sets.py``. ``rows.py`` is the one table of results, which
``exports.py`` gives to other libraries. ``saving.py`` saves a fit to a file, and ``inputs.py`` reads what users pass to
a classifier.
"""
