"""Benchmarks against the peers, in the same run, on the same input: ``python -m benchmarks``."""
