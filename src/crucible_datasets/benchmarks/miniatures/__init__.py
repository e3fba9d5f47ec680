"""Small generated datasets with the columns of the real ones, the same on every machine and free to use.

base        `Maker`, the registry of generators; words and sentences
maths       problems of mathematics
texts       passages, tasks, instructions; pictures of classes
choices     questions with options
judgements  conversations, and pairs of responses
programs    programs with tests
repos       all of them as repositories for a local Hub
"""
