"""The operator as a process.

Its options, its parts put together, leader election by a Lease, start and shutdown. The top of `controller`;
imports all of its rooms.
"""
