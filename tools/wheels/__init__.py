"""Wheels: built, and tried in an empty environment without a compiler. Read ``__main__.py`` first."""
