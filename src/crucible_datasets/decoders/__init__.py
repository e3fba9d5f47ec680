"""Media from bytes: one file for each library that decodes them."""
