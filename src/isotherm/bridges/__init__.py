"""Bridges: Isotherm inside other libraries, called by their functions.

In comes a call of another library; out goes what that library promises, computed here. Read ``networkx_backend.py``
first: it takes over the node classification of networkx, which finds it by the entry points of this package.
"""
