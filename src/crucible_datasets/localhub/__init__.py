"""A Hub server for a local folder of datasets, with the HTTP API of the Hugging Face Hub."""
