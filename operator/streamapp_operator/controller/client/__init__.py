"""Access to the API server.

Configuration, requests, errors and the cluster client; kinds, paths, labels and keys of objects. Imports no
other room of the operator.
"""
