"""State of apps on a node's own disk: folders made ready for it, and cleared of what no app has any more."""
