"""Metrics as Prometheus reads them: the form of a table of metrics, its values, its reference page.

It imports nothing of the product, and of prometheus_client only what holds values, not what serves them.
"""
