"""Diagrams: nodes and edges with their texts, from a graph and its plan.

Free of coordinates, colours and file formats.
"""
