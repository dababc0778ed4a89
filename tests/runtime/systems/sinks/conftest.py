"""The server that tests of sinks ask for."""

from tests.harness.machine.postgres_server import postgres_server

__all__ = ["postgres_server"]
