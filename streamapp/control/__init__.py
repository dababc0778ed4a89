"""Watermarks and ends of streams that travel in band: their bytes, and how a reader reconciles them."""
