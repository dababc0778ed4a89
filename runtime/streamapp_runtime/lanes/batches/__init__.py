"""One batch of a lane, from the orders to the commit. Imports every other room of lanes."""
