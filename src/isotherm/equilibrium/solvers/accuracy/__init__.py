"""How accurate temperatures are, and when a solver may stop.

Residuals and steps of a solver come in; an estimate of the error goes out, with a bound where there is one. Read
``convergence.py`` first: it says when the error, not the residual, is below the tolerance. ``horizon.py`` bounds the
time to absorption, which turns a residual into an error. ``reading.py`` says relative to which temperatures an error is
measured, and ``unconverged.py`` has the warning about a solve that stopped early.
"""
