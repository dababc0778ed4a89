"""Kafka's protocol over a socket, for the hot path: records to and from Arrow without an object for each.
What it does not cover (SASL, administration, consumer groups) is done by librdkafka.
"""
