"""Records in Protobuf's binary form, whose schemas are in a registry."""
