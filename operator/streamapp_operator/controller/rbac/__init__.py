"""The operator's rights.

The table of rights, the roles and the reference page generated from it, and the check that the API server
grants them. Imports `client` only.
"""
