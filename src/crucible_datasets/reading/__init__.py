"""Stage 2 of 6: name → files → bytes."""
