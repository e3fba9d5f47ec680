"""Code of models, run where it can do no harm and cannot judge itself."""
