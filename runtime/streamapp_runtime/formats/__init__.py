"""The values of records as typed columns, and typed columns as values; whole batches at a time."""
