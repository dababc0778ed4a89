"""The same work over a real Kafka broker, by StreamApp and by others."""
