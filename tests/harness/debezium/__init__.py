"""Debezium itself, beside a real PostgreSQL: the records that its engine makes of changes."""
