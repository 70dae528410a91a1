"""The terminal: how a command starts and ends, what it prints, and how it reacts to signals.

Arguments of a process come in; text goes out to stderr and stdout, and an exit status to the shell. Read ``job.py``
first: all commands run in a job, which times stages, draws bars and collects warnings. ``process.py`` runs a command
and turns errors and signals into an exit status, and ``messages.py`` words errors with options in place of parameters.
"""
