"""Where bytes live: one file for each kind of place."""
