"""The partition counts of an app's streams: looked up in Kafka by processes of their own, cached for a while.

Imports no other room of the reconciler.
"""
