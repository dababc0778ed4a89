"""A program can say all that the resource can: its parameters and parts are compared with the models."""

import json
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake

import streamapp.dsl
from streamapp.dsl import (
    App,
    Autoscale,
    BadRecords,
    Batch,
    Claim,
    Code,
    CodeErrors,
    ConfigMapKeyRef,
    CsvSigns,
    Driver,
    EnvSource,
    EnvVar,
    EventTime,
    Executor,
    Flow,
    LateRows,
    LoggerLevel,
    Logging,
    Monitor,
    Network,
    OutboxLimit,
    Placement,
    PullSecret,
    RecordMetadata,
    RejectionBound,
    Remote,
    Resources,
    RestartPolicy,
    RunPage,
    SchemaRegistry,
    SideInput,
    State,
    StateQueryAccess,
    SystemHandle,
    WriterSchema,
)
from streamapp.spec.parser import parse
from streamapp.spec.resource.app import Metadata, Spec
from streamapp.spec.resource.operators import Operator
from streamapp.spec.resource.streams import Stream
from streamapp.spec.resource.systems import Delta, Embedded, Files, Iceberg, Kafka, Postgres, PythonSink
from streamapp.spec.resource.tables import Table
from streamapp.spec.serialization import as_data

DECLARED_BY_METHODS = {"systems", "streams", "tables", "operators"}
OTHER_FLOWS = {"other", "others"}


def parameters(method: Callable[..., Any]) -> set[str]:
    return set(signature(method).parameters) - {"self"}


def operator_model(kind: str) -> type[BaseModel]:
    (model,) = parts_in(Operator.model_fields[to_snake(kind)].annotation)
    return model


def parts_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from parts_in(inner)


def test_an_app_takes_every_field_of_the_resource() -> None:
    fields = {*Spec.model_fields, *Metadata.model_fields} - DECLARED_BY_METHODS
    assert parameters(App) == fields


@pytest.mark.parametrize(
    ("method", "model", "given_by_the_call"),
    [
        (App.kafka, Kafka, {"name", "home"}),
        (App.embedded, Embedded, {"name", "home"}),
        (App.postgres, Postgres, {"name"}),
        (App.delta, Delta, {"name"}),
        (App.iceberg, Iceberg, {"name"}),
        (App.python, PythonSink, {"name"}),
        (App.files, Files, {"name"}),
        (App.table, Table, set()),
        (SystemHandle.stream, Stream, {"system"}),
    ],
)
def test_a_declaration_takes_every_field_of_its_model(
    method: Callable[..., Any], model: type[BaseModel], given_by_the_call: set[str]
) -> None:
    assert parameters(method) ^ set(model.model_fields) == given_by_the_call


@pytest.mark.parametrize("kind", Operator.kinds())
def test_an_operator_takes_every_field_of_its_model(kind: str) -> None:
    fields = {name for name in operator_model(kind).model_fields if name != "source"}
    assert parameters(getattr(Flow, to_snake(kind))) - OTHER_FLOWS - {"name"} == fields


def test_every_part_that_a_field_holds_comes_from_the_package_of_programs() -> None:
    waiting: list[type[BaseModel]] = [Stream, Table, *map(operator_model, Operator.kinds())]
    waiting += [
        part
        for name, field in Spec.model_fields.items()
        if name not in DECLARED_BY_METHODS
        for part in parts_in(field.annotation)
    ]
    made_by_methods = {Stream, Table, *map(operator_model, Operator.kinds())}
    parts: set[type[BaseModel]] = set()
    while waiting:
        part = waiting.pop()
        if part not in parts:
            parts.add(part)
            waiting += [inner for f in part.model_fields.values() for inner in parts_in(f.annotation)]
    assert {part.__name__ for part in parts - made_by_methods} <= set(streamapp.dsl.__all__)


APP: dict[str, Any] = {
    "name": "whole",
    "namespace": "shop",
    "labels": {"team": "web"},
    "annotations": {"note": "all that can be said"},
    "application_id": "shop.whole",
    "mode": "batch",
    "processors": 3,
    "config": {"job.intermediate.stream.partitions": "8"},
    "grouper": "streamPartition",
    "broadcast_inputs": ["rates#[0-3]"],
    "placement": Placement(location="volume"),
    "state": State(persistent_volume_claim=Claim(size="1Gi"), reclaim_policy="Delete"),
    "on_partition_change": "restart",
    "on_configuration_change": "restart",
    "partition_settle": "1m",
    "monitor": Monitor(interval="1m"),
    "rebalance_delay": "10s",
    "delivery": "atLeastOnce",
    "on_bad_record": BadRecords(action="deadLetter", stream="dead", bound=RejectionBound(share="2%")),
    "on_code_error": CodeErrors(action="skip"),
    "on_data_loss": "earliest",
    "state_changes": "accept",
    "late_rows": LateRows(action="stream", stream="late"),
    "outbox": OutboxLimit(max_records=10),
    "batch": Batch(rows=1_000, interval="1s"),
    "page": RunPage(enabled=True),
    "autoscale": Autoscale(max=4, target_lag=10_000),
    "state_queries": StateQueryAccess(enabled=True),
    "logging": Logging(format="text", loggers=[LoggerLevel(name="shop.scoring", level="debug")]),
    "image": "shop/runtime:1",
    "image_pull_policy": "IfNotPresent",
    "image_pull_secrets": [PullSecret(name="registry")],
    "code": Code(config_map="shop-code"),
    "env": [
        EnvVar(name="LEVEL", value="1"),
        EnvVar(
            name="ZONE",
            value_from=EnvSource(config_map_key_ref=ConfigMapKeyRef(name="zones", key="here")),
        ),
    ],
    "service_account_name": "shop",
    "driver": Driver(resources=Resources(requests={"cpu": "1"}), spark_conf={"spark.x": "1"}),
    "executor": Executor(template={"metadata": {"labels": {"a": "b"}}}),
    "network": Network(encryption=True),
    "restart_policy": RestartPolicy(type="Always", max_restarts=4),
    "suspend": True,
    "restart_nonce": 2,
    "reset_nonce": 3,
    "take_over": True,
    "ttl_seconds_after_finished": 60,
    "revision_history_limit": 5,
    "operator_class": "blue",
}
STREAM: dict[str, Any] = {
    "name": "views",
    "topic": "page-views",
    "format": "avro",
    "columns": "user STRING, ts TIMESTAMP",
    "key": "user",
    "keys": "unchecked",
    "partitioner": "crc32",
    "avro_schema": '{"type": "record", "name": "v", "fields": []}',
    "event_time": EventTime(column="ts", delay="5s", idle_timeout="1m"),
    "metadata": RecordMetadata(
        key="id",
        key_columns="n INT",
        key_avro_schema='"int"',
        key_writer_schema=WriterSchema(id=8),
        offset="at",
        header_list="headers",
    ),
    "start": "latest",
    "carries_watermarks": True,
}
FEEDBACK: dict[str, Any] = {
    "name": "again",
    "feedback": True,
    "timestamps": "milliseconds",
    "strict": True,
    "decimals": "base64",
    "flattened": True,
    "csv": CsvSigns(delimiter=";"),
    "registry": True,
    "writer_schema": WriterSchema(subject="record", auto_register=True, id=7),
}
TABLE: dict[str, Any] = {
    "name": "users",
    "store": "lmdb",
    "columns": "user STRING",
    "side_inputs": [SideInput(stream="rates", bootstrap=True)],
    "broadcast": True,
    "max_store_age": "2d",
    "visibility": "sameBatch",
}
LOCAL_TABLE: dict[str, Any] = {"name": "seen", "columns": "user STRING", "changelog": False}
REMOTE_TABLE: dict[str, Any] = {"name": "stock", "remote": Remote(python="shop.stock:Stock", timeout="1s")}
KAFKA: dict[str, Any] = {
    "name": "main",
    "bootstrap_servers": "kafka:9092",
    "config_secret": "client",
    "config": {"client.rack": "here"},
    "schema_registry": SchemaRegistry(url="http://schemas:8081", timeout="2s"),
    "home": False,
}
EMBEDDED: dict[str, Any] = {"name": "log", "path": "./data", "sync": True, "home": True}

POSTGRES: dict[str, Any] = {
    "name": "shop",
    "servers": "db:5432",
    "database": "shop",
    "config_secret": "login",
    "config": {"sslmode": "verify-full"},
    "create_if_missing": True,
    "evolve": "add",
}
DELTA: dict[str, Any] = {
    "name": "lake",
    "path": "s3://lake/shop",
    "config_secret": "keys",
    "config": {"aws_region": "eu-central-1"},
    "create_if_missing": True,
    "evolve": "add",
    "commit_interval": "5m",
}
ICEBERG: dict[str, Any] = {
    "name": "warehouse",
    "namespace": "shop",
    "catalog": "lake",
    "config_secret": "keys",
    "config": {"uri": "http://catalog:8181"},
    "create_if_missing": True,
    "evolve": "add",
    "commit_interval": "5m",
}
PYTHON: dict[str, Any] = {
    "name": "files",
    "sink": "shop.sinks:FileSink",
    "config_secret": "keys",
    "config": {"folder": "/data"},
    "create_if_missing": True,
}
FILES: dict[str, Any] = {
    "name": "exports",
    "path": "s3://lake/exports",
    "format": "csv",
    "csv": CsvSigns(delimiter=";"),
    "config_secret": "keys",
    "config": {"region": "eu-central-1"},
}
RATES: dict[str, Any] = {"name": "exchange", "columns": "user STRING", "partitions": 4, "refresh": "10m"}
SALES: dict[str, Any] = {
    "name": "sales",
    "columns": "user STRING",
    "primary_key": ["user"],
    "after": "views",
}


@pytest.mark.parametrize(
    ("method", "samples"),
    [
        (App, [APP]),
        (App.kafka, [KAFKA]),
        (App.embedded, [EMBEDDED]),
        (App.postgres, [POSTGRES]),
        (App.delta, [DELTA]),
        (App.iceberg, [ICEBERG]),
        (App.python, [PYTHON]),
        (App.files, [FILES]),
        (App.table, [TABLE, LOCAL_TABLE, REMOTE_TABLE]),
        (SystemHandle.stream, [STREAM, FEEDBACK, SALES, RATES]),
    ],
)
def test_the_samples_have_every_parameter(method: Callable[..., Any], samples: list[dict[str, Any]]) -> None:
    assert {name for sample in samples for name in sample} == parameters(method)


def _as_written(sample: dict[str, Any]) -> dict[str, Any]:
    """What a user writes in a resource: camelCase, parts as mappings."""
    return {to_camel(name): _plain(value) for name, value in sample.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {to_camel(n): _plain(getattr(value, n)) for n in value.model_fields_set}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def test_a_program_that_says_everything_is_the_resource_that_says_everything() -> None:
    app = App(**APP)
    kafka, log = app.kafka(**KAFKA), app.embedded(**EMBEDDED)
    views, again = kafka.stream(**STREAM), kafka.stream(**FEEDBACK)
    for name in ("rates", "dead", "late"):
        log.stream(name)
    sales = app.postgres(**POSTGRES).stream(**SALES)
    app.delta(**DELTA)
    app.iceberg(**ICEBERG)
    app.python(**PYTHON)
    app.files(**FILES).stream(**RATES)
    app.table(**TABLE)
    seen = app.table(**LOCAL_TABLE)
    stock = app.table(**REMOTE_TABLE)
    views.join_table("priced", stock).send_to("out", again)
    views.send_to("sell", sales)
    views.send_to_table("keep", seen, delete_where="user = ''")

    written = _as_written(APP)
    metadata = {name: written.pop(name) for name in ("name", "namespace", "labels", "annotations")}
    kafka_body, log_body = _as_written(KAFKA), _as_written(EMBEDDED)
    tables_body, lake_body, warehouse_body, own_body = map(_as_written, (POSTGRES, DELTA, ICEBERG, PYTHON))
    files_body = _as_written(FILES)
    for body in (kafka_body, tables_body, lake_body, warehouse_body, own_body, files_body):
        body["configSecret"] = {"name": body["configSecret"]}
    spec = {
        **written,
        "systems": [
            {"name": kafka_body.pop("name"), "home": kafka_body.pop("home"), "kafka": kafka_body},
            {"name": log_body.pop("name"), "home": log_body.pop("home"), "embedded": log_body},
            {"name": tables_body.pop("name"), "postgres": tables_body},
            {"name": lake_body.pop("name"), "delta": lake_body},
            {"name": warehouse_body.pop("name"), "iceberg": warehouse_body},
            {"name": own_body.pop("name"), "python": own_body},
            {"name": files_body.pop("name"), "files": files_body},
        ],
        "streams": [
            *({**_as_written(stream), "system": "main"} for stream in (STREAM, FEEDBACK)),
            *({"name": name, "system": "log"} for name in ("rates", "dead", "late")),
            {**_as_written(SALES), "system": "shop"},
            {**_as_written(RATES), "system": "exports"},
        ],
        "tables": [_as_written(table) for table in (TABLE, LOCAL_TABLE, REMOTE_TABLE)],
        "operators": [
            {"name": "priced", "joinTable": {"from": "views", "table": "stock"}},
            {"name": "out", "sendTo": {"from": "priced", "stream": "again"}},
            {"name": "sell", "sendTo": {"from": "views", "stream": "sales"}},
            {"name": "keep", "sendToTable": {"from": "views", "table": "seen", "deleteWhere": "user = ''"}},
        ],
    }
    head = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp"}
    resource = parse(json.dumps({**head, "metadata": metadata, "spec": spec}))
    assert resource.problems == ()
    assert app.parsed() == resource
    assert as_data(app.parsed().apps[0]) == as_data(resource.apps[0])


def test_no_parameter_but_the_first_and_other_flows_goes_without_its_name() -> None:
    for kind in Operator.kinds():
        for parameter in signature(getattr(Flow, to_snake(kind))).parameters.values():
            if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD:
                assert parameter.name in {"self", "name", "table", "stream", *OTHER_FLOWS}
