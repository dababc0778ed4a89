"""The life of an app's drivers: how the last one ended, which one is wanted, and the next action.

Pure; imports `facts` and `planning` and what is below, not `writes` or `status`.
"""
