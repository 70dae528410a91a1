"""What a fit found: one label per node, or a set of labels, with as many scores as memory allows.

Temperatures, a rule and seeds come in; an `Outcome` goes out. Read ``outcomes.py`` first: it has the protocol, and the
outcomes that keep all scores or only the best ones. ``decided.py`` adds calibrated probabilities, and ``several.py``
gives each node any number of labels. ``ranking.py`` finds the best scores of many classes block by block, and
``certainty.py`` the labels that no error within its bound can change.
"""
