"""Joins of two streams: their compilation, the pairing, and the rows that wait for a partner.

Imports operators.compilation and operators.state; no other kind.
"""
