"""A run from questions and answers to its record: what is judged, how, and what comes out."""
