"""The API server.

Configuration, requests, errors, the client of a cluster, kinds, labels and keys of objects. It imports no
other room of the operator.
"""
