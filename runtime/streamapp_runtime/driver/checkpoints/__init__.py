"""The checkpoint stream as the driver sees it: incarnations, ownership, resets, the layout, committed rows.

Knows streams and stores; no Spark, no batches, no executors.
"""
