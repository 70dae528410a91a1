"""Tables of edges or seeds: delimited text, JSON lines, Parquet, Arrow and Excel.

An open file comes in; edges whose ends are numbered, or seeds by node, go out. Read ``edges.py`` first: it leads from a
file to numbered edges, one batch of rows after another. ``rows/`` reads the rows of each kind of file. ``guessing/``
finds what the caller did not say: the delimiter, the header, and which column is which. ``codebook.py`` numbers the
ids, ``seed_rows.py`` turns rows into seeds, ``communities.py`` reads lists of members, and ``parts.py`` reads several
files as one table.
"""
