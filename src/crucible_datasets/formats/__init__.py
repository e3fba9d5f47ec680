"""Stage 3 of 6: bytes of one file ↔ Arrow batches, one file per format."""
