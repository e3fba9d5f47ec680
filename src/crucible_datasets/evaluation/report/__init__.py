"""Runs as one self-contained HTML page: charts, tables and samples.

page payload · samples choosing grouping pairing texts pictures · assets/ (its HTML, CSS and JavaScript)
"""
