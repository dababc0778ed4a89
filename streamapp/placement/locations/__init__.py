"""The definition of a location, and the providers that read it from a pod."""
