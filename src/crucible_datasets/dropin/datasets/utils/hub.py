"""Forwards to `huggingface_hub`."""

from functools import partial

from huggingface_hub import hf_hub_url as _hf_hub_url

hf_dataset_url = partial(_hf_hub_url, repo_type="dataset")

__all__ = ["hf_dataset_url"]
