"""The connection to a cluster that the commands about apps share, and their reading of an app there.

A module of this room imports no command.
"""
