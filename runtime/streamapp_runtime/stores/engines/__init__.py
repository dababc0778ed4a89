"""The three kinds of store (memory, LMDB, RocksDB) and what they are made of.

They know no locks and no directories of apps.
"""
