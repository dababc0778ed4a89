"""The decision of a reconcile, its writes and events, and their execution against the cluster.

Does not import `status`.
"""
