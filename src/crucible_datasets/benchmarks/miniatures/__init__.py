"""Small generated datasets with the columns of the real ones, the same on every machine and free to use.

base        `Maker`, the registry of generators
words       words and sentences
maths       problems of mathematics
texts       passages, tasks, instructions
choices     questions with options
talks       conversations
judgements  pairs of responses
programs    programs with tests
pictures    pictures of classes
repos       all of them as repositories for a local Hub
"""
