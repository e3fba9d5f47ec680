"""A Hub of one's own: a folder of datasets, served over HTTP as the Hugging Face Hub serves them."""
