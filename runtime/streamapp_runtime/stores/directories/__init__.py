"""The state directory of an app.

Where stores lie, who holds and owns them, what they hold, and the cleanup of those that nobody owns.
"""
