"""Keys that wait for a reconcile, the workers that take them, retries, and the liveness of both.

Imports `client` and `telemetry` only; what a reconcile does is given to it as a function.
"""
