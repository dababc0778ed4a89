"""What follows when a stream grows.

The expansion algorithm, splits and their waits, counts for the planner, start origins. It does not import
groupers.
"""
