"""What is done by librdkafka.

Administration, offsets, reading and writing of whatever the wire does not speak.
"""
