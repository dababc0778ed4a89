"""What the driver orders of lanes in a batch, and what they report of tasks, failed rows, traffic.

And of where they are. Imports no other room of lanes.
"""
