"""The app's own Python.

How it is loaded and guarded, the batches it is given and gives, python maps and `process`. Imports
operators.compilation and operators.state; no other kind.
"""
