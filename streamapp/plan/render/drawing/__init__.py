"""A diagram as one SVG: coordinates, shapes, styles. It knows no plan but for heading and errors."""
