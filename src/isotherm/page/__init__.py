"""The page: look at a graph as a map, label nodes, and watch the labels of all others change.

In come a graph, seeds if there are any, and an unfitted classifier. Out come a local web server with a page, or a
picture of the map. Read ``session.py`` first: it holds what a person does, and labels the graph again in the
background. ``journal.py`` keeps what a person did, in memory and on disk. ``server.py`` is the web server, and
``answers.py`` turns the session into what the page shows, or into files. ``static/`` has the HTML, CSS and JavaScript,
with the two libraries that they use. ``picture.py`` draws the map without a server, and ``open_page.py`` opens the
page. The server needs starlette and uvicorn: ``pip install 'isotherm[explore]'``.
"""
