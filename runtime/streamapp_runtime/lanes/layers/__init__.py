"""One batch in one layer of a program, from the orders to the commit. Imports every other room of lanes."""
