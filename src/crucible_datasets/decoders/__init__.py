"""Decoders of media, one module per library."""
