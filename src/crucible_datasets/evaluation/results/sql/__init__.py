"""Runs as tables of a database: SQLite, or PostgreSQL by URL. The files of the store remain authoritative.

mirror statements databases
"""
