"""What models said, in whatever form it comes, and functions that are asked for it."""
