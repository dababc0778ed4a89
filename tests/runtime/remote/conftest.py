"""One Redis server for all tests of a module."""

from collections.abc import Iterator

import pytest

from tests.harness.machine.redis_server import Server, redis_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with redis_server() as started:
        yield started
