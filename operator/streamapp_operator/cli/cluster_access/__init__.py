"""What the commands about apps share: the connection to a cluster, and what they read of an app there.

A module of this room imports no command.
"""
