"""The search for the records on which a batch fails.

Knows how a batch is tried, and nothing of when.
"""
