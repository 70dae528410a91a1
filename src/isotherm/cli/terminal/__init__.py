"""The terminal: what a command prints, how it ends, and how it reacts to signals.

Sentences, tables and progress come in from the commands; text goes out to stderr and stdout, and an exit status to the
shell. Read ``status.py`` first: it runs a command. ``wording.py`` turns parameters in errors into options, ``usage.py``
words the errors of the parser, ``stages.py`` times the stages of a job and draws bars, ``tables.py`` aligns columns,
``help.py`` lays out ``--help``, ``signals.py`` handles Ctrl-C, ``panics.py`` hides reports of compiled code, and
``lazy_imports.py`` makes the start faster.
"""
