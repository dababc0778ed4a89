"""How all apps are: a row for each, from its resource and its driver's last report, and the page of all apps.

It reads caches and reports, and decides nothing. It imports neither commands nor the operator's process.
"""
