"""The conditions of an app: a table of rows for each, from the findings alone.

The first row that fits decides a condition, so that the order of a table is its rule. Only
the status imports it.
"""
