"""State of apps on a node's own disk: prepares the root folders and removes folders whose app is gone.

Run as `python -m streamapp_operator.host_state`; no other room imports this one.
"""
