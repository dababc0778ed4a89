"""The overview of all apps: a row for each, from its resource and its driver's last report, and the page.

It reads caches and reports, and decides nothing. It imports neither commands nor the operator's process.
"""
