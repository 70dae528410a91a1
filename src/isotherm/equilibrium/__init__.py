"""Equilibrium: the Dirichlet problem on a graph, section 2 of the paper.

In comes a `Problem`: a graph, nodes with given temperatures, and optionally heat that enters at other nodes. Out comes
a `Solution`: the temperatures of all nodes, with an estimate of their error. Read ``dirichlet.py`` first, which states
the mathematics. ``lifting.py`` reduces directed graphs and soft seeds to that form, ``columns.py`` solves many columns
in blocks, ``certificate.py`` bounds the error at each node, ``harmonic_measure.py`` finds which seeds heat a node, and
``solvers/`` has the linear solvers.
"""
