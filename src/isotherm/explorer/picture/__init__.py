"""The map without a server: a file that can be printed, mailed or put on a web page.

In comes a fitted classifier. Out comes a picture (PNG, SVG or PDF, by matplotlib), or one HTML file that can be panned
and searched. Read ``drawing.py`` first: it gathers what is drawn, and draws the picture. ``viewer.py`` writes the HTML
file, from the template beside it.
"""

from isotherm.explorer.picture.drawing import MapData, check_picture, draw

__all__ = ["MapData", "check_picture", "draw"]
