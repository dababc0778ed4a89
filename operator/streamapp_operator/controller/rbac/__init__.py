"""What the operator may do.

The table of rights, the roles and the page made of it, and whether the API server grants it. Imports `client`
only.
"""
