"""A plan as text for a terminal."""
