"""Records of streams to rows and back.

Reading ranges, collecting outputs by partition, dead letters, late rows. Imports lanes.protocol.
"""
