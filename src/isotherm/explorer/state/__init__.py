"""What a person does with a graph, and the labels that follow from it.

In come a graph, a classifier and what a person says, one label after another; out come the class and the colour of each
node, and the next nodes to ask about. Read ``session.py`` first: it labels the graph again in the background.
``labels.py`` has what was said so far, with undo and redo, and ``journal.py`` keeps it on disk. ``shading.py`` says how
strong colours are, and ``search.py`` finds nodes by name.
"""
