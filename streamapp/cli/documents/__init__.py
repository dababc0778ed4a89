"""The files that verbs read and the answers they print.

Catalogs, processors, tasks and placements as JSON and as text, and programs that make apps. It imports no
verb and no click.
"""
