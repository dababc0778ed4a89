"""The first row of each key: its compilation, its description, its executor and what it keeps.

Imports operators.compilation and operators.state; no other kind.
"""
