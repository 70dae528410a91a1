"""The page: look at a graph as a map, label nodes, and watch the labels of all others change.

In come a graph, seeds if there are any, and an unfitted classifier. Out come a local web server with a page, or a
picture of the map. Read ``state/`` first: it holds what a person does, and labels the graph again in the background.
``web/`` is the web server, which turns the session into what the page shows, or into files. ``page/`` has the HTML, CSS
and JavaScript, with the two libraries that they use. ``picture/`` draws the map without a server. ``doors.py`` has the
methods that a classifier gets from all this. The server needs starlette and uvicorn:
``pip install 'isotherm[explore]'``.
"""
