"""The commands that say how well labels are found: on the user's data, on known datasets, and in the paper.

Parsed arguments come in; tables and figures go out. Read ``evaluate.py`` first: it hides labels and finds them again.
``compare.py`` does so with several methods, ``datasets.py`` has graphs with known labels, ``demo.py`` shows a small and
a real job, and ``reproduce.py`` makes the paper's figures and tables.
"""
