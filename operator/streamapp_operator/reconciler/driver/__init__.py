"""The life of an app's drivers: how the last one ended, which one is desired, and the next action.

Pure; imports `facts`, `planning` and the rooms below these, not `writes` or `status`.
"""
