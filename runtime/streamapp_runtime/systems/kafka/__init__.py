"""Streams that are topics of a Kafka cluster: the system itself, over the clients below it."""
