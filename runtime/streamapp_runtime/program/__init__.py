"""From compiled pieces to the program that lanes run: operations in order, and tagged edges between them.

Imports operators and expressions; not remote, lanes or driver.
"""
