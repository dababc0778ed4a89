"""The queue of keys that wait for a reconcile, its workers, retries, and the liveness check.

Imports `client` and `telemetry` only; the reconcile is passed in as a function.
"""
