"""Logs as JSON lines, the metrics of the operator and of each app, and HTTP endpoints for probes and scrapes.

Imports no other room of the operator.
"""
