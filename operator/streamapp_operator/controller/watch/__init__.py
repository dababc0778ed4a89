"""The cache of watched objects: filled by kopf's watches, compared with the API server after silences.

Imports `client` only.
"""
