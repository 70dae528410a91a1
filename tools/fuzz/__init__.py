"""Fuzzing: damaged files, crafted models and packed folders, extreme weights, each in a process of its own.

In come a seed and a number of cases; out comes a table of crashes, hangs and wrong silent answers, which should all be
0. Run it as ``make fuzz`` or ``python -m tools.fuzz``. Read ``__main__.py`` first. ``workers.py`` runs cases in
processes with a time limit; ``readers.py``, ``models.py``, ``folders.py`` and ``weights.py`` say what a case is and
when it is wrong.
"""
