"""What every remote table must do: derive from `RemoteTableContract` and give the fixture `service`."""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.remote.remote_client import RemoteClient, RemoteSilentError
from streamapp_runtime.rows.row_decoder import decode
from tests.harness.engine.remote_table_settings import of
from tests.harness.runs.app_runs import AppEnv, app, in_order, inputs
from tests.harness.runs.drained_loop import drain

COLUMNS = "country STRING, tier INT, since TIMESTAMP, score DOUBLE, gone BOOLEAN"
SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEYS = [b"a", b"b", b"c"]
MOST_STEPS = 100_000
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


class RemoteServer(Protocol):
    """A server, or what stands for one in this process."""

    def start(self) -> None: ...

    def end(self) -> None: ...

    def held_up(self) -> AbstractContextManager[None]: ...


class Service(Protocol):
    """A server with one table."""

    python: str
    keeps_nulls: bool  # a row of nulls is one

    @property
    def server(self) -> RemoteServer: ...

    @property
    def options(self) -> Row: ...

    def fill(self, columns: str, table: Mapping[bytes, Row]) -> None: ...


@contextmanager
def asking(service: Service, columns: str = COLUMNS, **more: Any) -> Iterator[RemoteClient]:
    settings = of(service.python, columns, options=json.dumps(service.options), **{"attempts": 1, **more})
    with closing(RemoteClient(settings)) as client:
        yield client


def found(ask: RemoteClient, columns: str = COLUMNS, keys: list[bytes] = KEYS) -> list[Row | None]:
    values = ask(pa.array(keys))
    given = iter(decode(values.drop_null(), of("any:One", columns).schema).to_pylist())
    return [next(given) if there else None for there in values.is_valid().to_pylist()]


def text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(value).lower() if isinstance(value, bool) else str(value)


class RemoteTableContract:
    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
        max_examples=30,
        deadline=None,
    )
    @given(table=st.dictionaries(st.sampled_from(KEYS), rows))
    def test_rows_are_found_under_their_keys(self, service: Service, table: dict[bytes, Row]) -> None:
        service.fill(COLUMNS, table)
        there = {key: row for key, row in table.items() if service.keeps_nulls or {*row.values()} != {None}}
        with asking(service) as ask:
            assert found(ask) == [there.get(key) for key in KEYS]

    def test_more_keys_than_one_command_takes_are_all_found(self, service: Service) -> None:
        keys = [b"%d" % n for n in range(2_500)]
        service.fill("tier INT", {key: {"tier": int(key)} for key in keys})
        with asking(service, "tier INT") as ask:
            assert found(ask, "tier INT", keys) == [{"tier": int(key)} for key in keys]

    def test_a_key_that_is_no_text_has_no_row(self, service: Service) -> None:
        service.fill("tier INT", {b"a": {"tier": 1}})
        with asking(service, "tier INT") as ask:
            assert found(ask, "tier INT", [b"\xff", b"a", b"\xed\xa0\x80"]) == [None, {"tier": 1}, None]
            assert found(ask, "tier INT", [b"\xff"]) == [None]

    def test_a_server_that_answers_nothing_is_unavailable_until_it_answers_again(
        self, service: Service
    ) -> None:
        service.fill("tier INT", {b"a": {"tier": 1}})
        silent = pytest.raises(RemoteSilentError, match=r"(?i)time|no answer")
        with asking(service, "tier INT", timeout=0.2) as ask, service.server.held_up(), silent:
            ask(pa.array(KEYS))
        with asking(service, "tier INT", timeout=30.0) as patient:
            assert found(patient, "tier INT")[0] == {"tier": 1}

    def test_a_server_that_ended_is_unavailable_and_its_rows_are_there_when_it_comes_back(
        self, service: Service
    ) -> None:
        service.fill("tier INT", {b"a": {"tier": 2}})
        with asking(service, "tier INT") as ask:
            assert found(ask, "tier INT")[0] == {"tier": 2}
            service.server.end()
            with pytest.raises(RemoteSilentError):
                ask(pa.array(KEYS))
            service.server.start()
            assert found(ask, "tier INT")[0] == {"tier": 2}

    def test_rows_of_an_app_wait_for_a_server_that_ended_and_none_is_lost(
        self, service: Service, env: AppEnv
    ) -> None:
        views = [{"user": f"u{n % 5}", "n": n} for n in range(20)]
        service.fill("tier INT", {b"u%d" % n: {"tier": 10 * n} for n in range(3)})
        service.server.end()
        env.write("views", inputs(views, "user"))
        remote = {"python": service.python, "options": service.options, "retry": {"attempts": 1}}
        made = app(
            {"name": "joined", "joinTable": {"from": "views", "table": "far", "select": "user, n, tier"}},
            {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
            streams=[{"name": "views", "key": "user", "columns": "user STRING, n INT"}, {"name": "out"}],
            tables=[{"name": "far", "columns": "tier INT", "remote": remote}],
        )
        _, ready = env.launched(made)
        heard: list[str] = []
        loop = env.loop(CurrentRun.of(ready), batch_failed=heard.append)
        loop.start()
        waits = 0
        for _ in range(MOST_STEPS):
            batch = loop.step()
            waits += batch is not None and any(report.status == "waiting" for report in batch.reports)
            if waits == 2:
                break
        assert env.rows("out") == []
        service.server.start()
        drain(loop)
        loop.release()
        joined = [row | {"tier": 10 * (row["n"] % 5)} for row in views if row["n"] % 5 < 3]
        assert env.rows("out") == in_order(joined)
        assert heard[0].startswith('remote table "far" is unavailable: ')
