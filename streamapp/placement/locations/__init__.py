"""What a location is, and how it is read from a pod."""
