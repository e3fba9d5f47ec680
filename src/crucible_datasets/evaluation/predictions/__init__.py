"""Predictions in all supported forms, and functions that generate them."""
