"""The messages between operator and driver.

The accepted app, the wanted state, the report, the termination message.
"""
