"""More of `datasets.config`: settings of things that are not done here."""

__all__ = [
    "MAX_TABLE_NBYTES_FOR_PICKLING",
    "MODULE_NAME_FOR_DYNAMIC_MODULES",
    "SLEEP_TIME_ON_THREADS_SHUTDOWN",
]

MAX_TABLE_NBYTES_FOR_PICKLING = 4 << 30
MODULE_NAME_FOR_DYNAMIC_MODULES = "datasets_modules"
SLEEP_TIME_ON_THREADS_SHUTDOWN = 5
