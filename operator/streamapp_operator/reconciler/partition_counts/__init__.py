"""How many partitions an app's streams have: asked of Kafka on threads, remembered for a moment.

Imports no other room of the reconciler.
"""
