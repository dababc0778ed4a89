"""The operator as a process: its options, its parts put together, leader election, start and shutdown.

The top of `controller`: imports all of its rooms.
"""
