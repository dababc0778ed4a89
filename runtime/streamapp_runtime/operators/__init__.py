"""What operators are.

One room for each kind or family with its compilation, its description, its executor and its state, and the
tables that list them. May import rows, expressions, formats and stores; not program, remote, lanes or driver.
"""
