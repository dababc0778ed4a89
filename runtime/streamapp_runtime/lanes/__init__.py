"""What one processor does in one micro-batch: read, tables, write, each in a worker process of its own."""
