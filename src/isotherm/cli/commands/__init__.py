"""The commands, one file for each: read the arguments, call the library, print.

Parsed arguments come in; results go to files or stdout, everything else to stderr. Read ``classify.py`` first: the
others are built in the same way. ``evaluate.py``, ``compare.py`` and ``reproduce.py`` say how well labels are found.
"""
