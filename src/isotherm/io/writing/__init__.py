"""From results to files, each of which appears whole or not at all.

Labels, tables and saved classifiers come in; files go out. Read ``labels.py`` first: it writes what is known about each
node. ``models.py`` saves and loads classifiers. Both write through ``output.py``, which renames a finished temporary
file onto the target.
"""
