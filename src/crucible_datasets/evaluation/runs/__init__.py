"""A run: the data, how answers are scored, and the record of the result."""
