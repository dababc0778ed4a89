"""Event time in a lane: watermarks received and sent, and how far each task is.

Imports lanes.protocol and lanes.records.
"""
