"""Metrics as Prometheus reads them: what is measured, its text, its reference page.

It imports nothing of the product.
"""
