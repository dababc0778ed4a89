"""The consequences of a stream's growth.

The expansion algorithm, splits and their waits, counts for the planner, start origins. It does not import
groupers.
"""
