"""Aggregates.

Running totals, windows and sessions, from the list of aggregate functions to what a store keeps of them.
Imports operators.compilation and operators.state; no other kind.
"""
