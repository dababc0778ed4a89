"""What a reconcile knows before it decides, read from the cache or the API server.

And the context that it reads from. Knows nothing of planning, driver, writes or status.
"""
