"""A plan as one HTML page around the drawing."""
