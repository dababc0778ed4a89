"""Tables that are kept elsewhere and asked over the network."""
