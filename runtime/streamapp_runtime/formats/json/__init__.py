"""JSON: one object for each record."""
