"""Users' own data as samples.

load     `load_samples`
sources  data of any kind → rows
fields   `FieldMapping`: which columns, or nested values by path, become which fields, and their types
values   a value of any column → a field of a sample; `chosen` and `rejected` → prompt, choices and target
"""
