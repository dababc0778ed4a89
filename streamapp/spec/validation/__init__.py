"""Checks that need more than one field.

Names across lists, cycles, capabilities; and the messages for what pydantic refuses.
"""
