"""From facts to an accepted generation, its plan, its tasks and the next job model.

Pure; does not import `driver`, `writes` or `status`.
"""
