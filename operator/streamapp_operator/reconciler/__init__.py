"""One reconcile of one app: gather the facts, decide, then write, set the status and write again.

`decide` and the rooms that it calls are pure: only `facts`, `partition_counts`, `writes.write_execution` and
`reconcile` await anything.
"""
