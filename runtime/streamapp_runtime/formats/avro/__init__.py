"""Avro: the binary form of records, bare and behind the frame of a schema registry. It asks nobody."""
