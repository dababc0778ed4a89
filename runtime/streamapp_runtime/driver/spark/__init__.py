"""Spark itself: the command of its JVM, the archive of its classes, its home, its output and its session.

Knows nothing of lanes, nor of what a run reads.
"""
