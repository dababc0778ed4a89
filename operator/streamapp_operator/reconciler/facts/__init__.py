"""The facts of a reconcile, and the context that they are gathered from: the cache or the API server.

Does not import `planning`, `driver`, `writes` or `status`.
"""
