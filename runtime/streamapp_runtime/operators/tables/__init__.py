"""Operators on tables: joinTable, sendToTable and side inputs.

Imports operators.compilation, operators.state and operators.user_code; no other kind.
"""
