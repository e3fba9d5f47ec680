"""Stage 1 of 6: where bytes live, one file for each kind of place."""
