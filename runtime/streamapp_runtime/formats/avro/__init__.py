"""Avro: the bare binary form of a record, its schema known beforehand."""
