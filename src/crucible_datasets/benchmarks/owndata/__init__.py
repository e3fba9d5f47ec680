"""Data of one's own as samples.

load         `load_samples`
sources      what it is given → rows
fields       `FieldMapping`: which columns become which fields
paths        values inside rows by path
values       a value of any column → a field of a sample
columns      the types of the samples' columns, from those that they are read from
preferences  rows of `chosen` and `rejected` → prompt, choices and target
"""
