"""The partition count of every stream and whether joined streams agree.

It imports graph and spec; nothing here imports render.
"""
