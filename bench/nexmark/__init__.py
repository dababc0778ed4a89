"""Nexmark: its events, the apps of `examples/nexmark`, and the answers of SQL over the same events."""
