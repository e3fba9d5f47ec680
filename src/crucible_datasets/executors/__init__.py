"""Who runs the tasks of an operation."""
