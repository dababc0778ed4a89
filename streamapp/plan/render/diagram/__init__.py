"""From a graph and its plan to nodes and edges with what they say.

Free of coordinates, colours and file formats.
"""
