"""From facts to an accepted generation, its plan, its tasks and the next job model.

Pure; knows nothing of the driver's life, writes or status.
"""
