"""What a reconcile decided, the writes that follow from it, and their execution against the cluster.

Imports no `status`.
"""
