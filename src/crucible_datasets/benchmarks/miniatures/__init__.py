"""Small made-up datasets with the columns of the real ones: made by code, the same on every machine, free to use.

base        what a miniature is
words       what rows are made of
maths       problems of mathematics
texts       passages, tasks, instructions
choices     questions with options
talks       conversations
judgements  pairs of responses
programs    programs with tests
pictures    pictures of classes
repos       all of them as repositories for a local Hub
"""
