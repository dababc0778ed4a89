"""Streams that are topics of a Kafka cluster."""
