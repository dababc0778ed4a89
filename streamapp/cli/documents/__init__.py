"""The files that verbs read and the answers they print.

Catalogs, processors, tasks and placements as JSON and as text. It imports no verb and no click.
"""
