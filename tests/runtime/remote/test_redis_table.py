"""The table in Redis, against a real server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
import redis

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from tests.harness.machine.redis_server import Server
from tests.runtime.remote.remote_table_contract import RemoteTableContract, Row, asking, found, text


@dataclass(slots=True)
class RedisService:
    """Rows as values of JSON, or as hashes."""

    server: Server
    form: str
    python: str = "streamapp_runtime.remote.redis:RedisTable"

    @property
    def keeps_nulls(self) -> bool:
        return self.form == "json"

    @property
    def options(self) -> Row:
        return {"url": self.server.url, "prefix": "user:", "format": self.form}

    def fill(self, columns: str, table: Mapping[bytes, Row]) -> None:
        with redis.Redis.from_url(self.server.url) as client:
            client.flushall()
            for key, row in table.items():
                fields = {name: text(value) for name, value in row.items() if value is not None}
                if self.form == "json":
                    client.set(b"user:" + key, json.dumps(row, default=text))
                elif fields:
                    client.hset(b"user:" + key, mapping=fields)


class TestJson(RemoteTableContract):
    @pytest.fixture
    def service(self, redis_server: Server) -> RedisService:
        return RedisService(redis_server, "json")


class TestHashes(RemoteTableContract):
    @pytest.fixture
    def service(self, redis_server: Server) -> RedisService:
        return RedisService(redis_server, "hash")


@pytest.mark.parametrize(
    ("form", "why"), [("json", "value of key b'a': tier"), ("hash", 'column "tier" as int32')]
)
def test_a_value_that_is_no_row_is_told_by_its_key_or_column(
    redis_server: Server, form: str, why: str
) -> None:
    service = RedisService(redis_server, form)
    service.fill("tier STRING", {b"a": {"tier": "high"}})
    with asking(service, "tier INT") as ask, pytest.raises(UserCodeError, match=why):
        found(ask, "tier INT")
