"""The work with Kafka that librdkafka does.

Administration, offsets, reading and writing of whatever the wire does not speak.
"""
