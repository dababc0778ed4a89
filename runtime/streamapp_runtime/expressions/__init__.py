"""Spark SQL text to templates over columns.

What Spark's parser says of an expression, its scope, its type, or why it is refused. Knows no operator;
imports nothing of the runtime.
"""
