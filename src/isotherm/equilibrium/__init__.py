"""Equilibrium: the Dirichlet problem on a graph, section 2 of the paper.

In comes a `Problem`: a graph, nodes with given temperatures, and optionally heat that enters at other nodes. Out comes
a `Solution`: the temperatures of all nodes, with an estimate of their error. Read ``harmonic.py`` first: it is section
2 in plain SciPy. ``problem.py`` states a problem and solves it in blocks of columns, ``lifting.py`` reduces directed
graphs and soft seeds to the undirected case, and ``solvers/`` has the linear solvers. ``certificate.py`` bounds the
error at each node, ``correction.py`` updates a solution after a change of few seeds, ``harmonic_measure.py`` finds
which seeds heat a node, and ``averages.py`` has averages over neighbours and over nodes.
"""
