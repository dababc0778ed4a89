"""The executors of a run: which of them runs which lane, and how lanes get their orders.

Knows nothing of what a batch reads.
"""
