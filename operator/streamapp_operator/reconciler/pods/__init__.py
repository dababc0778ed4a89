"""The pods of an app.

Templates of driver and executors, their parts, Spark's settings, and the pod shape that is stored with an
accepted generation. Pure; imports `objects` only.
"""
