"""The one composer of models.

From an app and what is known of its world to names, streams, plan, tasks and the next model. No text or JSON
of commands.
"""
