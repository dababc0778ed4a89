"""Zones of time as Java knows them: their names, their offsets, and the file that has both."""
