"""From the arguments of a command to a graph with its labels, and to a fitted classifier.

Names of files and options come in. ``reading.py`` gives a graph and labels, ``fitting.py`` a classifier that was fitted
on them or loaded from a file. Read ``reading.py`` first.
"""
