"""The driver of an app: one process that orders batches, and recovers when one fails.

Rooms, from the bottom up: `checkpoints`, `executors`, `inputs`, `start`, `bad_records`, `batches`,
`reporting` and `modes`. A room imports the rooms below it, never one above.
"""
