"""Readers of datasets, one file for each source.

Paths of files come in, a `Dataset` goes out. ``karate.py`` and ``debian.py`` need no files. Read ``snap.py`` first:
it is the shortest of the others.
"""
