"""What all experiments share: how they are described, scored, run and stored.

Experiments come in; their results go out, and every finished run is appended to a CSV file. Read `experiment.py` first,
the contract: an experiment lists its settings and measures one run of each. `runner.py` runs them in parallel processes
and `results.py` stores them. `scoring.py` turns a graph, its labels and its seeds into scores in either protocol, and
`real_graphs.py` finds the paper's graphs.
"""
