"""One PostgreSQL server for all tests of a module."""

from collections.abc import Iterator

import pytest

from tests.harness.machine.postgres_server import PostgresServer, running_postgres


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[PostgresServer]:
    with running_postgres() as started:
        yield started
