"""What Python workers do with whole batches of rows: one executor per kind of operation."""
