"""Sources: tables and files that an app reads once, in one version from beginning to end.

Knows Arrow and the clients of these systems, those of sinks among them; no formats of records, no driver.
"""
