"""The stores of a lane's tasks.

How each is kept, opening, restoring from changelogs, side inputs and their versions. Imports lanes.protocol;
not event_time or batches.
"""
