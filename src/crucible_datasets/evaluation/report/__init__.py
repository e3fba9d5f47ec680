"""Runs as one HTML page that needs nothing else: charts, tables, every sample, and no script but its own.

page payload · samples choosing grouping pairing texts pictures · assets/ (its HTML, CSS and JavaScript)
"""
