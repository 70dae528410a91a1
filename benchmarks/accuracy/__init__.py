"""How right the labels are: Isotherm and its peers on many real graphs, with the same seeds.

Run ``python -m benchmarks accuracy``; read ``command.py`` first. ``halves.json`` splits the graphs at random into those
for development, on which everything is chosen, and those for confirmation.
"""
