"""Fuzzing: damaged files, crafted models and packed folders, extreme weights, updates, each in a process of its own.

In come a seed and a number of cases; out comes a table of crashes, hangs and wrong silent answers, which should all be
0. Run it as ``make fuzz`` or ``python -m tools.fuzz``. Read ``__main__.py`` first. ``workers.py`` runs cases in
processes with a time limit; ``readers.py``, ``arrays.py``, ``models.py``, ``folders.py``, ``weights.py`` and
``fits.py`` say what a case is and when it is wrong. ``dense.py`` has the answers that fits are compared with.
``guided.py`` fuzzes readers of text with guidance by coverage, if atheris is installed.
"""
