"""The page: look at a graph as a map, label nodes, and watch the labels of all others change.

In come a graph, seeds if there are any, and an unfitted classifier. Out come a local web server with a page, or a
picture of the map. Read ``session.py`` first: it holds what a person does, and labels the graph again in the
background. ``labels.py`` has what was said so far, ``journal.py`` keeps it on disk, and ``shading.py`` says how strong
colours are. ``server.py`` is the web server, and knows who may ask; ``answers.py`` turns the session into what the page
shows, with ``search.py`` for names, and ``export.py`` into files. ``page/`` has the HTML, CSS and JavaScript, with the
two libraries that they use. ``picture/`` draws the map without a server. ``doors.py`` has the methods that a classifier
gets from all this. The server needs starlette and uvicorn: ``pip install 'isotherm[explore]'``.
"""
