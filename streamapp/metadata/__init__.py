"""Storage for what an app knows about itself between two runs, and the locality kept there.

An edge: it reads and writes files.
"""
