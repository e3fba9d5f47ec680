"""Stage 4 of 6: Arrow tables seen through row indices."""
