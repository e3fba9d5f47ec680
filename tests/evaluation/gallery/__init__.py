"""The gallery of answer styles: how models write answers, and what a careful person reads in them.

forms (ways to state, retract, doubt and refuse an answer) · further (phrasings of models) · styles (forms × marks × surroundings, in two halves)
"""
