"""What pods of an app look like.

Templates of driver and executors, their parts, Spark's settings, and the shape that is kept of them. Pure;
imports `objects` only.
"""
