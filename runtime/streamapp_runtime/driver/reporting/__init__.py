"""The output of a run: log lines, metrics, the report to the operator.

Reads values of the loop; changes nothing.
"""
