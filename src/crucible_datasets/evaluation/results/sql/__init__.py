"""Runs as tables of a database, for teams: SQLite, or PostgreSQL by its URL. The files stay the truth.

mirror statements databases
"""
