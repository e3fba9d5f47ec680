"""Small made-up datasets with the columns of the real ones: made by code, the same on every machine, free to use."""
