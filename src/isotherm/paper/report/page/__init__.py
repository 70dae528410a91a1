"""How the report is written down: a `Document` comes in, an HTML page and Markdown with pictures go out.

Read `document.py` first: a document is sections of texts, tables and pictures. `html.py` and `markdown.py` write it in
each format. `pictures.py` draws with matplotlib and holds the look of each rule.
"""
