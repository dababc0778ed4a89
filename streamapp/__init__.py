"""What a stream application is, and every rule about it."""
