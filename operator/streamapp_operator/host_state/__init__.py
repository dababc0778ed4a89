"""State of apps on a node's own disk: folders made ready, and cleared when no app has them any more.

It runs as `python -m streamapp_operator.host_state`; nothing imports it.
"""
