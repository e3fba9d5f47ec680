"""Pages of runs.

routes              what each address tells
runs comparing      every run and one of them; several side by side
judging samples     what became of each sample; lists of them, and one
"""
