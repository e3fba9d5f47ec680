"""Runs beside each other: which model is better, by how much, and how sure that is."""
