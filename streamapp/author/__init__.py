"""The one composer of models.

From an app and its planning inputs to names, streams, plan, tasks and the next model. No text or JSON
of commands.
"""
