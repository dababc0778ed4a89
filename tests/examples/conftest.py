"""The server that examples with tables in PostgreSQL are run against."""

from tests.harness.machine.postgres_server import postgres_server

__all__ = ["postgres_server"]
