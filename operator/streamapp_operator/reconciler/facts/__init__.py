"""What a reconcile knows before it decides, and the context that it reads from: cache or API server.

Knows nothing of planning, driver, writes or status.
"""
