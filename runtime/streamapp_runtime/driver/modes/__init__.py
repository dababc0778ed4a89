"""A run from beginning to end, under an operator or by itself: sessions, models, edits, the end.

The top of the driver: only commands import it.
"""
