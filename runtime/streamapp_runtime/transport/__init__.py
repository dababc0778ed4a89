"""The transport of messages between operator and driver: through files of a folder, or through ConfigMaps.

It does not interpret them.
"""
