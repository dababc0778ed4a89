"""How many partitions streams have: from a file, from the command line, later from a live system."""
