"""Sinks: systems of tables that an app writes to, each in one transaction with the positions of its rows.

Knows Arrow and the clients of these systems; no formats of records, no outboxes, no driver.
"""
