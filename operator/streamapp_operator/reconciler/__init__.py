"""One reconcile of one app: gather facts, decide, then write, set the status, write.

`decide` and all that it calls look nothing up: only `facts`, `partition_counts`, `writes.write_execution` and
`reconcile` await anything.
"""
