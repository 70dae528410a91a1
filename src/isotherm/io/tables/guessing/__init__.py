"""What the caller did not say about a table: its delimiter, its header, and which column is which.

The first rows or the names of columns come in, with what the caller said; a `Dialect` or the places of columns go
out. Where two answers are equally likely, an error asks the caller to choose. Read ``roles.py`` first: it decides which
column holds sources, targets, weights, nodes or labels. ``names.py`` has the usual names of columns, and ``sniff.py``
finds delimiter, header and comments of text.
"""
