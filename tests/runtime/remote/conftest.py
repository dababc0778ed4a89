"""One Redis server for all tests of a module."""

from collections.abc import Iterator

import pytest

from tests.harness.machine.redis_server import Server, running_redis


@pytest.fixture(scope="module")
def redis_server() -> Iterator[Server]:
    with running_redis() as started:
        yield started
