"""One join with a task's own table, and with the same table elsewhere: CPU microseconds for each row.

Of the remote table both sides are counted, the worker and the server; what neither shows is the time on the
network. First the join alone, 100,000 rows at a time: with a call for each row, as code does that knows of no
batches; then as a remote table, each key asked for once a batch. The aim of a hundred times is met against
the first. The second is what our own remote tables do and is far nearer: it has no aim, and is shown as it
is. Then the whole app, which also reads, decodes, encodes and writes. Last the join alone with the table
behind a service of Python in this process, and in PostgreSQL.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import adbc_driver_postgresql.dbapi as adbc
import numpy as np
import pyarrow as pa
import redis

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN, remote_join
from bench.app_runs.redis_server import MISSING, cpu_of, redis_server
from bench.app_runs.runs import run_app
from bench.app_runs.spent import cpu_seconds
from bench.row import Aim, Compared, Row
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.operators.operation_executor import OperationExecutor
from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.tables.table_operations import LookUp, LookUpRemote
from streamapp_runtime.remote.remote_reader import RemoteReader
from streamapp_runtime.remote.remote_settings import RemoteSettings
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind
from streamapp_runtime.stores.store_opening import open_store
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.key_service import KeyService
from tests.harness.machine.postgres_server import USER, running_postgres

COLUMNS = "user STRING, country STRING, tier INT"
BATCH = 100_000
BATCHES = 10
ONE_BY_ONE = 20_000
VIEWS = 1_000_000
LEFT_OUT = 2
HTTP = "streamapp_runtime.remote.http:HttpTable"
POSTGRES = "streamapp_runtime.remote.postgres:PostgresTable"
REDIS = "streamapp_runtime.remote.redis:RedisTable"
MADE = pa.schema([("page", pa.string()), ("country", pa.string())])


@dataclass(frozen=True, slots=True)
class Users:
    """The table: its keys, and its rows."""

    keys: pa.BinaryArray
    values: pa.BinaryArray  # as JSON

    def rows(self) -> pa.RecordBatch:
        """Typed."""
        return pa.RecordBatch.from_pylist([json.loads(value) for value in self.values.to_pylist()])


def rows() -> Iterator[Row]:
    """The join alone, then the whole app."""
    records = pa.Table.from_batches(page_views.users()).combine_chunks()
    users = Users(records["key"].chunk(0), records["value"].chunk(0))
    local = _local(users)
    yield Row("the join with a table of the task, LMDB", local, "us/row")
    if MISSING:
        yield Row(f"with a table in Redis: {MISSING}", float("nan"), "")
        return
    with redis_server() as (port, process):
        with redis.Redis(port=port) as client:
            for start in range(0, len(users.keys), 10_000):
                some = slice(start, start + 10_000)
                pairs = zip(users.keys[some].to_pylist(), users.values[some].to_pylist(), strict=True)
                client.mset(dict(pairs))
        single = _one_by_one(port, process)
        own = Compared("the task's own", local)
        yield Row("with a call to Redis for each row", single, "us/row", compared=own)
        yield Row("  of the task's own", single / local, "x", Aim(least=100))

        def clock() -> float:
            return process_time() + cpu_of(process)

        options = {"url": f"redis://127.0.0.1:{port}/0"}
        far = _remote(REDIS, options, clock)
        yield Row("with a table in Redis, asked for a batch at once", far, "us/row", compared=own)
        yield Row("  of the task's own", far / local, "x")
        near = _remote(REDIS, options, clock, cache=2 * len(users.keys))
        yield Row("with a table in Redis, all of it in the cache", near, "us/row", compared=own)
        yield Row("  of the task's own", near / local, "x")
        yield from _apps(port, process)
    for where, asked in (("behind a service", _service), ("in PostgreSQL", _postgres)):
        yield Row(f"with a table {where}, asked for a batch at once", asked(users), "us/row", compared=own)


def _local(users: Users) -> float:
    schema = users.rows().schema
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "users"
        store = open_store(StoreKind.LMDB, place, StoreIdentity("run", "task", "users", ""), owner="bench")
        store.load(users.keys, encode(users.rows(), schema))

        def state() -> LaneState:
            return LaneState(lambda *_: store, {"users": schema}, tasks=1, time_ms=0)

        spent = _joined(make_executor(LookUp("users", False, None, (0, 2)), [], MADE), state, process_time)
        store.close()
    return spent


def _remote(python: str, options: dict[str, str], clock: Callable[[], float], cache: int = 0) -> float:
    settings = RemoteSettings("users", COLUMNS, python, json.dumps(options), cache, 3_600.0, timeout=60.0)
    reader = RemoteReader(settings)

    def state() -> LaneState:
        reader.begin()
        return LaneState(_no_store, {}, tasks=1, time_ms=0, remotes={"users": reader})

    spent = _joined(make_executor(LookUpRemote("users", False, None, (0, 2)), [], MADE), state, clock)
    reader.close()
    return spent


def _postgres(users: Users) -> float:
    with running_postgres() as server:
        server.execute('CREATE TABLE users ("user" text PRIMARY KEY, country text, tier int)')
        with adbc.connect(f"host=127.0.0.1 port={server.port} user={USER} dbname=postgres") as connection:
            with connection.cursor() as cursor:
                rows = users.rows().cast(arrow_schema(parse_columns(COLUMNS)))
                cursor.adbc_ingest("users", rows, mode="append")
            connection.commit()
        server.execute("ANALYZE users")
        root = server.process.pid if server.process else 0
        url = f"postgresql://{USER}@{server.address}/postgres"
        options = {"url": url, "table": "users", "keyColumn": "user"}
        return _remote(POSTGRES, options, lambda: process_time() + sum(cpu_seconds(root).values()))


def _service(users: Users) -> float:
    names, values = users.keys.cast(pa.string()).to_pylist(), users.values.cast(pa.string()).to_pylist()
    service = KeyService(dict(zip(names, values, strict=True)))
    service.start()
    spent = _remote(HTTP, {"url": service.url}, process_time)
    service.end()
    return spent


def _one_by_one(port: int, process: int) -> float:
    """A look-up as any client's documentation shows it, for each row."""
    asked = _views(0).key.to_pylist()[:ONE_BY_ONE]
    with redis.Redis(port=port) as client:
        client.ping()
        started = process_time() + cpu_of(process)
        for key in asked:
            json.loads(client.get(key))["country"]
        return (process_time() + cpu_of(process) - started) / ONE_BY_ONE * 1e6


def _no_store(*_: object) -> Store:
    raise AssertionError("a remote table has no store")


def _joined(executor: OperationExecutor, state: Callable[[], LaneState], clock: Callable[[], float]) -> float:
    """CPU microseconds of a row, once the first batch has shown what is needed."""
    batches = [_views(seed) for seed in range(BATCHES)]
    executor.execute((batches[0],), state())
    started = clock()
    for batch in batches:
        found = executor.execute((batch,), state())
        if found is None or len(found) != BATCH:
            raise AssertionError("a view found no user")
    return (clock() - started) / (BATCH * BATCHES) * 1e6


def _views(seed: int) -> Slice:
    names = np.random.default_rng(seed).integers(0, page_views.USERS, BATCH)
    return Slice(
        task=pa.array(np.zeros(BATCH, np.int32)),
        key=pa.array([b"user-%07d" % n for n in names], pa.binary()),
        time=pa.array(np.zeros(BATCH, np.int64)),
        tombstone=pa.array(np.zeros(BATCH, bool)),
        source=pa.array(np.zeros(BATCH, np.int32)),
        offset=pa.array(np.arange(BATCH)),
        columns=(pa.array(["/"] * BATCH),),
    )


def _apps(port: int, process: int) -> Iterator[Row]:
    """The whole app, with either table."""
    with tempfile.TemporaryDirectory() as folder:
        figures = {}
        for name, app in (
            ("local", JOIN),
            ("remote", remote_join(port, cache=0)),
            ("cached", remote_join(port, cache=2 * page_views.USERS)),
        ):
            data = Path(folder) / name
            log = EmbeddedSystem(data)
            page_views.to_log(log, "users", page_views.users())
            page_views.to_log(log, "views", page_views.views(VIEWS))
            log.create("enriched", page_views.PARTITIONS)
            log.close()
            before = cpu_of(process)
            run = run_app(app, data, rows=BATCH)
            served = (cpu_of(process) - before) / VIEWS
            figures[name] = (1 / run.steady(LEFT_OUT) + served) * 1e6
    yield Row("the whole app with a table of its own", figures["local"], "us/row")
    for name, told in (("remote", ""), ("cached", " and a cache")):
        own = Compared("the app's own", figures["local"])
        yield Row(f"with the table in Redis{told}", figures[name], "us/row", compared=own)
