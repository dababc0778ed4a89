"""From compiled pieces to the program that lanes run: hops, layers, tags, registers and steps of Spark SQL.

Imports operators and expressions; not remote, lanes or driver.
"""
