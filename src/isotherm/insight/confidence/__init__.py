"""Confidence: how certain labels are, judged by held-out seeds.

In comes a `Fit`; out come probabilities, prediction sets, and the rule that does best on held-out seeds. Read
``confidence.py`` first. It solves without some of the seeds (``held_out.py``), selects the rule that labels them best
(``rule_choice.py``), and calibrates probabilities on them (``calibration.py``, with features from
``neighbourhood.py``). ``sets.py`` and ``label_odds.py`` do the same if a node may have several labels.
"""
