"""Queries of the state of a running app: what may be asked, which tasks have it, the answers, and HTTP.

Reads a launch and what lanes report; decides nothing of a run. May import `start` and what that may.
"""
