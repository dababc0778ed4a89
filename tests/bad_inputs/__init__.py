"""Inputs that are wrong, as tables: what is typed, and what is said of it."""
