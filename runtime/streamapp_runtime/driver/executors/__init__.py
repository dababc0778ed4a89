"""Spark's side of a run: its JVM and session, its executors, and which executor runs which lane.

Knows nothing of what a batch reads.
"""
