"""The commands, one file for each: a library call, plus reading arguments and printing.

Parsed arguments come in; results go to files or stdout, everything else to stderr. Read ``classify.py`` first: the
others are built in the same way. ``study/`` has the commands that say how well labels are found.
"""
