"""Forwards to `load_dataset` and the methods `to_csv`, `to_json` …, as the classes that programs take from here."""
