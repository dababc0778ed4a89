"""The columns and keys that rows have from operator to operator, as far as that is sure without Spark.

The rules on columns and keys stand here once: `check` and the operator ask them with what sqlglot reads of an
expression, the compiler with what Spark does. It imports spec only.
"""
