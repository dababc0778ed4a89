"""How messages between operator and driver travel: through files of a folder, or through ConfigMaps.

It does not interpret them.
"""
