"""Real servers, one of each for all tests of a module."""

from tests.harness.machine.postgres_server import postgres_server
from tests.harness.machine.redis_server import redis_server

__all__ = ["postgres_server", "redis_server"]
