"""A lane's writes to Kafka, with a transaction or without one, over any record producer.

It imports neither client.
"""
