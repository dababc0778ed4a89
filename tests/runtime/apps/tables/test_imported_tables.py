"""Tables that an app reads: a batch app's inputs, and what fills tables of any app."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamapp.spec.parser import parse_data
from streamapp_runtime.checkpoint_entries import IMPORTS
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.standby.standby_program import standby_program
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.driver.start.launch import launch
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import SparkJvm, SparkOnDemand
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from streamapp_runtime.testing.in_process_lanes import InProcessHosting
from tests.harness.core.app_resources import app_resource
from tests.harness.engine.record_values import keyed, texts, write
from tests.harness.runs.drained_loop import drain

OUT = [TopicPartition("out", index) for index in range(3)]
NAMES = "id STRING, name STRING"


def _no_jvm(text: str) -> SparkJvm:
    raise AssertionError(f"nothing here needs Spark: {text}")


@contextmanager
def running(resource: dict[str, Any]) -> Iterator[tuple[Systems, Loop]]:
    parsed = parse_data(resource)
    assert not parsed.problems, parsed.problems
    app, spark, hosting = parsed.apps[0], SparkOnDemand(_no_jvm), InProcessHosting()
    storage = storage_of(app, None)
    with closing(Systems(storage.systems)) as systems:
        ledger = CheckpointStream(systems.home, "test.app.checkpoint")
        ready = launch(AppContext(app, storage, systems, ledger, load_user_functions(app)), spark, 2)
        loop = Loop(spark, CurrentRun.of(ready, batch_rows=100), hosting=hosting, pause=lambda _: None)
        loop.start()
        yield systems, loop
        loop.release()
        hosting.processes.close()


def systems_of(folder: Path) -> list[dict[str, Any]]:
    lake = {"name": "lake", "files": {"path": str(folder / "lake"), "format": "parquet"}}
    return [{"name": "main", "embedded": {"path": str(folder / "home")}}, lake]


def write_names(folder: Path, names: dict[str, str], table: str = "names") -> None:
    (folder / "lake").mkdir(exist_ok=True)
    pq.write_table(pa.table({"id": list(names), "name": list(names.values())}), folder / "lake" / table)


def outputs(systems: Systems) -> list[Any]:
    return sorted((json.loads(text) for at in OUT for text in texts(systems.home, at)), key=str)


def test_a_batch_app_ends_where_its_table_does(tmp_path: Path) -> None:
    write_names(tmp_path, {str(n): f"name {n % 7}" for n in range(500)})
    count = {"name": "count", "aggregate": {"from": "by-name", "aggregates": "count(*) AS n", "key": "name"}}
    resource = app_resource(
        [
            {"name": "by-name", "partitionBy": {"from": "names", "key": "name"}},
            count,
            {"name": "send", "sendTo": {"from": "count", "stream": "out"}},
        ],
        [
            {"name": "names", "system": "lake", "columns": NAMES, "key": "id", "partitions": 3},
            {"name": "out"},
        ],
        mode="batch",
        systems=systems_of(tmp_path),
    )
    with running(resource) as (systems, loop):
        while not loop.planner.ended:
            assert loop.step() is not None or loop.planner.behind
        last = {row["name"]: row["n"] for row in outputs(systems)}
        assert last == {f"name {n}": 500 // 7 + (n < 500 % 7) for n in range(7)}
        loop.close_turn()
    write_names(tmp_path, {"new": "name 0"})
    with running(resource) as (systems, loop):  # the table is imported already
        before = outputs(systems)
        while not loop.planner.ended:
            loop.step()
        assert outputs(systems) == before


def joining(folder: Path, **table: Any) -> dict[str, Any]:
    """An app that looks up the names of orders in a table that is imported."""
    join = {"from": "orders", "table": "users", "select": "id, name"}
    side = {"stream": "names", "bootstrap": True}
    return app_resource(
        [
            {"name": "named", "joinTable": join},
            {"name": "send", "sendTo": {"from": "named", "stream": "out"}},
        ],
        [
            {"name": "orders", "columns": "id STRING", "key": "id"},
            {"name": "names", "system": "lake", "columns": NAMES, "key": "id", "partitions": 3},
            {"name": "out"},
        ],
        [{"name": "users", "columns": NAMES, "sideInputs": [side], **table}],
        systems=systems_of(folder),
    )


def write_orders(folder: Path, ids: Iterable[str]) -> None:
    with closing(EmbeddedSystem(Path(systems_of(folder)[0]["embedded"]["path"]))) as log:
        log.create("orders", 3)
        for one in ids:
            index = partition_of(pa.array([one.encode()]), 3)[0]
            write(log, TopicPartition("orders", int(index)), keyed(**{one: json.dumps({"id": one})}))


@pytest.mark.parametrize("store", ["rocksdb", "memory"])
@pytest.mark.parametrize("broadcast", [False, True])
def test_a_table_fills_a_table_before_rows_are_joined(tmp_path: Path, store: str, broadcast: bool) -> None:
    write_names(tmp_path, {str(n): f"name {n}" for n in range(300)})
    ids = [str(n) for n in range(0, 300, 7)]
    write_orders(tmp_path, ids)
    for _ in range(2):
        with running(joining(tmp_path, store=store, broadcast=broadcast)) as (systems, loop):
            drain(loop)
            assert {row["id"]: row["name"] for row in outputs(systems)} == {n: f"name {n}" for n in ids}


def test_a_driver_that_stands_by_fills_no_table_from_an_import_that_is_not_complete(tmp_path: Path) -> None:
    write_names(tmp_path, {"a": "A"})
    write_orders(tmp_path, ["a"])
    with running(joining(tmp_path)) as (_, loop):
        context = loop.launch.context
        program = standby_program(context, SparkOnDemand(_no_jvm), loop.launch.model.processors)
        assert program is not None
        assert program.setup(context).setup.side_input_specs.keys() == {"users"}
        del context.ledger.entries[IMPORTS.key]
        assert program.setup(context).setup.side_input_specs == {}
