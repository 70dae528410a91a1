"""The paper's figures and tables, one module each: ``python -m isotherm.experiments.figure1``."""
