"""Operators that keep nothing: input, filter, map, flatMap, merge, partitionBy, broadcast, sendTo.

Imports operators.compilation, operators.state and operators.user_code; no other kind.
"""
