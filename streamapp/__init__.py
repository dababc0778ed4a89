"""The definition of a stream application, and every rule about it."""
