"""How `map` and `filter` call users' functions: inputs, calls, results and their files."""
