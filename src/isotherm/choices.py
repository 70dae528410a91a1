"""The values of parameters that have a fixed set of them, as types: a type checker refuses others.

The command line lists these values without importing the library, so this module imports nothing.
"""

from typing import Literal, TypeAlias

RuleName: TypeAlias = Literal["centered", "relative", "vanilla", "weighted"]
DecisionName: TypeAlias = Literal["balanced", "probable"]
SolverName: TypeAlias = Literal["auto", "cg", "direct", "elimination", "sweeps"]
SideName: TypeAlias = Literal["source", "both", "edges", "along"]
EngineName: TypeAlias = Literal["local", "dask"]
StopName: TypeAlias = Literal["error", "labels"]
EvidenceName: TypeAlias = Literal["auto", "spectral", "compatibility"]
MetricName: TypeAlias = Literal["euclidean", "cosine"]
WeightsName: TypeAlias = Literal["gaussian", "self-tuning"]  # how weights of edges fall with the distance of vectors
DrawPolicy: TypeAlias = Literal["uniform", "degree", "balanced"]  # how labels that are shown are drawn
SuggestPolicy: TypeAlias = Literal["diverse", "uncertainty", "margin", "likely"]
FrameName: TypeAlias = Literal["default", "pandas", "polars"]
DecimalSign: TypeAlias = Literal[".", ","]
MissingName: TypeAlias = Literal["raise", "drop"]  # what to do with seeds that are not in the graph
