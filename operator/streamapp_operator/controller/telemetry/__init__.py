"""Logs as JSON lines, the table of the operator's metrics, and the HTTP endpoints for probes and scrapes.

Imports no other room of the operator.
"""
