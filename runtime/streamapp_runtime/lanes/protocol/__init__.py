"""The driver's orders to lanes in a batch, and the lanes' reports of tasks, failed rows, traffic.

And of where they are. Imports no other room of lanes.
"""
