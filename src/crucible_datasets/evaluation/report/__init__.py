"""Runs as one HTML page that needs nothing else: charts, tables, every sample, and no script but its own."""
