"""What operator and driver tell each other.

The accepted app, the wanted state, the report, the termination message.
"""
