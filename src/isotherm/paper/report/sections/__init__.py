"""The sections of the report: the results of an experiment come in, a `Section` goes out.

Each function here makes the tables and pictures of one section; its words are in texts.md. `summary.py` makes the first
section and the last. Read `figures.py` first.
"""
