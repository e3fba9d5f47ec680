"""Laws that hold for all data, and a machine that makes up the data.

values     rows: nested, with late changes of keys, order, types and nulls
equality   what is equal, and which values a column may refuse
ways       ways through the library, from rows to rows
law        a decorator that makes a test of a law: examples of the corpus, then made-up ones
soak       all laws for an hour: `python -m laws.soak` in tests/, or `make soak`
corpus/    examples that broke a law; they are tried in every run
"""
