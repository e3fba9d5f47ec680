"""Comparison of runs: which model is better, by how much, and how certain that is."""
