"""Names that modules of this library have at Hugging Face and not here, in one file for each module."""
