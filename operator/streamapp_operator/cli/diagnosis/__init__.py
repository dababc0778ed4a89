"""The answer of `streamapp why`: the facts of an app on a cluster, and the table of situations it may be in.

The rules of what is ready, planned or stalled are the reconciler's: here its conditions are explained.
A module of this room imports no command.
"""
