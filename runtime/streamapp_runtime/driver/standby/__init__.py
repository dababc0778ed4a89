"""The hand-over to the next driver: what it gets ready, and how long the last one waits for it.

Restores and compiles, and watches the driver that works; takes nothing over, and runs no batch.
"""
