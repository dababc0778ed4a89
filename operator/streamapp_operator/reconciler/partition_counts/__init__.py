"""The partition counts of an app's streams: looked up in Kafka on threads, cached for some seconds.

Imports no other room of the reconciler.
"""
