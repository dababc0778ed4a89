"""The client of a schema registry. May not import the cluster's clients, but the TLS of its connections."""
