"""The objects that make an app on a cluster: each a pure function, one to a file."""
