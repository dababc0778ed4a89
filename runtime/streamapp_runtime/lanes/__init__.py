"""The work of a Python worker in a batch.

The entry of a worker, what a launch tells it, and the rooms of the work. May import everything below; not
driver.
"""
