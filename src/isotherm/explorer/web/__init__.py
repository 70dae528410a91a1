"""The web server of the page, on this machine only.

Requests of the page come in; a session's answers go out, as JSON, arrays or files. Read ``server.py`` first: it has the
addresses, and knows who may ask. ``answers.py`` says what the page is told, and ``export.py`` writes seeds, labels and
the model as files to take away.
"""
