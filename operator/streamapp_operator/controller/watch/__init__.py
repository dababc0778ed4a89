"""The cache of watched objects: filled by kopf's watches, compared with the API server when they are silent.

Imports `client` only.
"""
