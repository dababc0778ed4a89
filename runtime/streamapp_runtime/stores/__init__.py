"""Stores of tables: bytes to bytes for one task's part of one table, opened, copied, and trusted or not."""
