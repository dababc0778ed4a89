"""Logs as JSON lines, the operator's metrics and their values, and the HTTP endpoints for probes and scrapes.

Imports no other room of the operator.
"""
