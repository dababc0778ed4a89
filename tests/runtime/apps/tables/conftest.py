"""Servers beside which apps with tables run."""

from tests.harness.machine.postgres_server import postgres_server

__all__ = ["postgres_server"]
