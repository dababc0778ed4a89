"""Where what an app knows about itself is kept between two runs, and the locality kept there.

An edge: it reads and writes files.
"""
