"""From an accepted app to one that is ready to run: checks, streams, program, tasks, settings of lanes.

Runs no batch.
"""
