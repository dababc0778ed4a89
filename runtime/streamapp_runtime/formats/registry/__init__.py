"""Records that name schemas of a registry: their frames, and the reading of each by its own schema."""
