"""What commands show: results of the library as text, JSON and pictures.

A fitted classifier or an evaluation comes in, text or an image goes out. ``summary.py`` is for classify,
``explanations.py`` for explain and suggest, and ``picture.py`` is for evaluate and compare. Read ``summary.py`` first.
"""
