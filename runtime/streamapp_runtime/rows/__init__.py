"""Rows as arrays and as bytes: a slice of a batch, and the binary form in which tables keep rows.

Imports nothing of the runtime.
"""
