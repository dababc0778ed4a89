"""An app's operators as a graph of plain values, and the walks over it. It imports spec only."""
