"""Imports: rows of tables that an app reads, written into streams of its home before its first batch.

Knows no lanes and no batches.
"""
