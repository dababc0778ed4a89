"""Requests and answers, error codes, retries, and the connections to brokers."""
