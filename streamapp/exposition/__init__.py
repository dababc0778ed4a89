"""Metrics as Prometheus reads them: what is measured, its text, its reference page."""
