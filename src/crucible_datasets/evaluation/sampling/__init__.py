"""Parts of the data, drawn by a seed, with how they were drawn."""
