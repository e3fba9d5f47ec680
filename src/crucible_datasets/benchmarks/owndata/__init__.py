"""Users' own data as samples.

load         `load_samples`
sources      data of any kind → rows
fields       `FieldMapping`: which columns become which fields
paths        nested values by path
values       a value of any column → a field of a sample
columns      the types of the samples' columns
preferences  rows of `chosen` and `rejected` → prompt, choices and target
"""
