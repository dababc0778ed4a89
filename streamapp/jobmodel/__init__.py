"""The versioned map of which task owns what and which processor runs it, in JSON and in few bytes."""
