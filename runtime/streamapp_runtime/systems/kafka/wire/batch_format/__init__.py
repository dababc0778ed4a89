"""Record batches as bytes and as Arrow: headers, checksums, compression, variable-length numbers.

No sockets.
"""
