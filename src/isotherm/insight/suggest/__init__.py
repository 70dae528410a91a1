"""Suggestions: the nodes to label next.

In come a graph, its seeds and how doubtful each label is. Out come the nodes whose labels would help most, best first.
Read ``suggestion.py`` first. ``damped.py`` finds how far heat reaches, ``likeness.py`` how similar nodes are, so that
suggestions differ. ``first.py`` is for graphs without any label.
"""
