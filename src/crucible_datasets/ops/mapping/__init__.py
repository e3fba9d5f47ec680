"""Functions of users over rows: what they get, how they are called, what becomes of what they return."""
