"""Programs for those who work on Isotherm: see ``sanitize/`` and ``fuzz/``."""
