"""The table in Redis, against a real server."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote.remote_client import RemoteClient, RemoteSilentError
from streamapp_runtime.rows.row_decoder import decode
from tests.harness.engine.remote_table_settings import of
from tests.harness.machine.redis_server import Server

REDIS = "streamapp_runtime.remote.redis:RedisTable"
COLUMNS = "country STRING, tier INT, since TIMESTAMP, score DOUBLE, gone BOOLEAN"
SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEYS = [b"a", b"b", b"c"]
Row = dict[str, Any]

rows = st.fixed_dictionaries(
    {
        "country": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
        "tier": st.none() | st.integers(-(2**31), 2**31 - 1),
        "since": st.none() | st.just(SINCE),
        "score": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "gone": st.none() | st.booleans(),
    }
)
tables = st.dictionaries(st.sampled_from(KEYS), rows)


@pytest.fixture(scope="module")
def client(redis_server: Server) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_server.url) as opened:
        yield opened


def asking(redis_server: Server, form: str, columns: str = COLUMNS, **more: Any) -> RemoteClient:
    options = json.dumps({"url": redis_server.url, "prefix": "user:", "format": form})
    return RemoteClient(of(REDIS, columns, options=options, **{"attempts": 1, **more}))


def found(ask: RemoteClient, columns: str = COLUMNS) -> list[Row | None]:
    values = ask(pa.array(KEYS))
    given = iter(decode(values.drop_null(), of(REDIS, columns).schema).to_pylist())
    return [next(given) if there else None for there in values.is_valid().to_pylist()]


def text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(value).lower() if isinstance(value, bool) else str(value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(tables)
def test_rows_that_are_json_are_found_under_their_keys(
    redis_server: Server, client: redis.Redis, table: dict[bytes, Row]
) -> None:
    client.flushall()
    for key, row in table.items():
        client.set(b"user:" + key, json.dumps(row, default=text))
    ask = asking(redis_server, "json")
    assert found(ask) == [table.get(key) for key in KEYS]
    ask.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(tables)
def test_rows_that_are_hashes_are_found_under_their_keys(
    redis_server: Server, client: redis.Redis, table: dict[bytes, Row]
) -> None:
    client.flushall()
    for key, row in table.items():
        fields = {name: text(value) for name, value in row.items() if value is not None}
        if fields:
            client.hset(b"user:" + key, mapping=fields)
    ask = asking(redis_server, "hash")
    there = {key: row for key, row in table.items() if set(row.values()) != {None}}
    assert found(ask) == [there.get(key) for key in KEYS]
    ask.close()


@pytest.mark.parametrize(
    ("form", "why"), [("json", "value of key b'a': tier"), ("hash", 'column "tier" as int32')]
)
def test_a_value_that_is_no_row_is_told_by_its_key_or_column(
    redis_server: Server, client: redis.Redis, form: str, why: str
) -> None:
    client.flushall()
    if form == "json":
        client.set(b"user:a", '{"tier": "high"}')
    else:
        client.hset(b"user:a", mapping={"tier": "high"})
    with pytest.raises(UserCodeError, match=why):
        found(asking(redis_server, form))


def test_more_keys_than_one_command_takes_are_all_found(redis_server: Server, client: redis.Redis) -> None:
    keys = [b"%d" % n for n in range(2_500)]
    client.mset({b"user:" + key: b'{"tier": 1}' for key in keys})
    assert asking(redis_server, "json", "tier INT")(pa.array(keys)).null_count == 0


def test_a_server_that_answers_nothing_is_away_and_one_that_answers_again_is_not(
    redis_server: Server, client: redis.Redis
) -> None:
    client.set(b"user:a", '{"tier": 1}')
    ask = asking(redis_server, "json", "tier INT", timeout=0.2)
    with redis_server.held_up(), pytest.raises(RemoteSilentError, match=r"(?i)timeout|no answer"):
        ask(pa.array(KEYS))
    patient = asking(redis_server, "json", "tier INT", timeout=30.0)
    assert found(patient, "tier INT")[0] == {"tier": 1}


def test_a_server_that_is_gone_is_away_and_its_rows_are_there_when_it_comes_back(
    redis_server: Server, client: redis.Redis
) -> None:
    client.set(b"user:a", '{"tier": 2}')
    ask = asking(redis_server, "json", "tier INT")
    assert found(ask, "tier INT")[0] == {"tier": 2}
    redis_server.end()
    with pytest.raises(RemoteSilentError):
        ask(pa.array(KEYS))
    redis_server.start()
    assert found(ask, "tier INT")[0] == {"tier": 2}
