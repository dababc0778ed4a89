"""Fields that contradict each other are refused with their own reason and what would be right."""

from typing import Any

import pytest

from streamapp.author.start_problems import start_problems
from streamapp.spec.parser import parse_data
from streamapp.spec.reasons import Reason

TABLE = {"name": "users", "columns": "user STRING"}
SEALED = {"stream": "users", "versions": "nullKey"}
WINDOW = {"window": {"tumbling": {"size": "1h"}}}
LEFT_JOIN = {"from": ["views", "users"], "within": "1m", "type": "left"}
TOTALS = {"from": "views", "aggregates": "count(*) AS n", "key": "user"}
TO_SECOND = {"name": "n", "sendTo": {"from": "views", "stream": "users"}}
WRONG: list[tuple[dict[str, Any], str, str]] = [
    (
        {"tables": [TABLE | {"sideInputs": [SEALED], "visibility": "sameBatch"}]},
        "spec.tables[0].visibility",
        "leave it out",
    ),
    (
        {"tables": [TABLE | {"sideInputs": [SEALED, {"stream": "more"}]}]},
        "spec.tables[0].sideInputs[1].versions",
        "say what seals those of this one",
    ),
    (
        {"tables": [TABLE | {"sideInputs": [{"stream": "users", "versions": "endOfStream"}]}]},
        "spec.tables[0].sideInputs[0].versions",
        "say carriesWatermarks: true if another app makes it",
    ),
    ({"lateRows": {"action": "stream"}}, "spec.lateRows.stream", "name the stream that takes late rows"),
    ({"onBadRecord": {"action": "deadLetter"}}, "spec.onBadRecord.stream", "name the stream that takes bad"),
    ({"onCodeError": {"action": "deadLetter"}}, "spec.onCodeError.stream", "name the stream that takes bad"),
    ({"lateRows": {"action": "stream", "stream": "text"}}, "spec.lateRows.stream", "name a stream of json"),
    (
        {"operators": [{"name": "n", "aggregate": TOTALS | {"emit": "onWatermark"}}]},
        "spec.operators[0].aggregate.emit",
        "say onUpdate, or a window",
    ),
    (
        {"operators": [{"name": "n", "aggregate": TOTALS | WINDOW}]},
        "spec.operators[0].aggregate",
        "give a stream eventTime, or say mode: batch",
    ),
    (
        {"operators": [{"name": "n", "join": LEFT_JOIN}]},
        "spec.operators[0].join",
        "give a stream eventTime, or say mode: batch",
    ),
    ({"streams": [{"avroSchema": "{}"}]}, "spec.streams[0].avroSchema", "say format: avro"),
    ({"streams": [{"registry": True, "format": "bytes"}]}, "spec.streams[0].registry", "say format: avro"),
    ({"streams": [{"format": "protobuf"}]}, "spec.streams[0].registry", "say registry: true"),
    (
        {"streams": [{"registry": True, "carriesWatermarks": True}]},
        "spec.streams[0].registry",
        "leave it out",
    ),
    (
        {"streams": [{"registry": True, "format": "avro"}]},
        "spec.streams[0].registry",
        "say kafka.schemaRegistry there",
    ),
    (
        {"streams": [{"avroSchema": "{", "format": "avro"}]},
        "spec.streams[0].avroSchema",
        "give the schema as it stands in an .avsc file",
    ),
    (
        {"streams": [{"timestamps": "seconds", "format": "columns"}]},
        "spec.streams[0].timestamps",
        "leave it out",
    ),
    (
        {"streams": [{"timestamps": "seconds", "carriesWatermarks": True}]},
        "spec.streams[0].timestamps",
        "leave it out",
    ),
    ({"streams": [{"decimals": "text"}]}, "spec.streams[0].decimals", "the format is json; leave it out"),
    (
        {"streams": [{"flattened": True, "format": "columns"}]},
        "spec.streams[0].flattened",
        "the format is columns; leave it out",
    ),
    ({"streams": [{"csv": {}}]}, "spec.streams[0].csv", "say format: csv"),
    (
        {"streams": [{"format": "csv", "csv": {"delimiter": '"'}}]},
        "spec.streams[0].csv.quote",
        "say another character",
    ),
    (
        {"streams": [{"format": "csv", "csv": {"nullText": "-,-"}}]},
        "spec.streams[0].csv.nullText",
        "say another text",
    ),
    (
        {"streams": [{"format": "debezium", "timestamps": "seconds"}]},
        "spec.streams[0].timestamps",
        "microseconds and nanoseconds; say one of these",
    ),
    (
        {"streams": [{"timestamps": "nanoseconds"}]},
        "spec.streams[0].timestamps",
        "goes with debezium only; say microseconds, or text",
    ),
    (
        {"streams": [{"format": "debezium", "columns": "user STRING, a ARRAY<TIMESTAMP_NTZ>"}]},
        "spec.streams[0].timestamps",
        "nanoseconds, or isostring, as the connector's time.precision.mode",
    ),
    (
        {"streams": [{"format": "debezium", "columns": "user STRING, a STRUCT<b: NUMERIC(5, 2)>"}]},
        "spec.streams[0].decimals",
        "say base64 where the connector's decimal.handling.mode is precise, else text",
    ),
    (
        {"streams": [{"format": "debezium", "registry": True, "timestamps": "microseconds"}]},
        "spec.streams[0].timestamps",
        "is said by the registered schemas; leave it out",
    ),
    (
        {
            "streams": [{}, {"format": "debezium", "columns": "user STRING, at TIMESTAMP"}],
            "operators": [TO_SECOND],
        },
        "spec.operators[0].sendTo.stream",
        "is debezium, which is only read; write to a stream of json",
    ),
    ({"streams": [{"strict": True, "format": "string"}]}, "spec.streams[0].strict", "leave it out"),
    ({"streams": [{"strict": True, "carriesWatermarks": True}]}, "spec.streams[0].strict", "leave it out"),
    ({"streams": [{}, {"metadata": {"offset": "o"}}]}, "spec.streams[1].metadata", "leave it out"),
    (
        {"streams": [{"metadata": {"keyFormat": "string"}}]},
        "spec.streams[0].metadata.keyFormat",
        "name a column for the key",
    ),
    (
        {"streams": [{"metadata": {"key": "k", "keyColumns": "n INT"}}]},
        "spec.streams[0].metadata.keyColumns",
        "goes with keys of a registry; say keyFormat: avro, protobuf or json",
    ),
    (
        {"streams": [{"metadata": {"key": "k", "keyAvroSchema": '"int"'}}]},
        "spec.streams[0].metadata.keyAvroSchema",
        "goes with keyFormat: avro only; leave it out",
    ),
    (
        {"streams": [{"metadata": {"key": "k", "keyWriterSchema": {}}}]},
        "spec.streams[0].metadata.keyWriterSchema",
        "goes with keyFormat: avro, protobuf or json; leave it out",
    ),
    (
        {"streams": [{"metadata": {"keyFormat": "avro", "keyColumns": "n INT", "keyWriterSchema": {}}}]},
        "spec.streams[0].metadata.keyWriterSchema",
        "leave it out",
    ),
    (
        {"streams": [{"metadata": {"keyFormat": "json", "keyColumns": "n INT"}}]},
        "spec.streams[0].metadata.keyFormat",
        "has no schema registry; say kafka.schemaRegistry there",
    ),
    (
        {"streams": [{"format": "debezium", "metadata": {"keyFormat": "avro", "keyColumns": "n INT"}}]},
        "spec.streams[0].metadata.keyFormat",
        "keys of changes are read by themselves; leave it out",
    ),
    (
        {"streams": [{"carriesWatermarks": True, "eventTime": {"column": "at"}}]},
        "spec.streams[0].eventTime",
        "leave eventTime or carriesWatermarks out",
    ),
    (
        {"streams": [{"carriesWatermarks": True, "format": "columns"}]},
        "spec.streams[0].format",
        "leave format or carriesWatermarks out",
    ),
    (
        {"tables": [TABLE | {"name": "kept"}], "operators": [{"name": "kept", "aggregate": TOTALS}]},
        "spec.operators[0].name",
        "give one of them another",
    ),
    (
        {"operators": [{"name": "checkpoint", "partitionBy": {"from": "views", "key": "user"}}]},
        "spec.operators[0].name",
        "give the operator another",
    ),
]


def problems_of(changes: dict[str, Any]) -> dict[str, tuple[Reason, str]]:
    streams = [
        {"name": "views", "columns": "user STRING, at TIMESTAMP", "key": "user"},
        {"name": "users", "columns": "user STRING"},
        {"name": "more", "columns": "user STRING"},
        {"name": "text", "format": "string"},
        {"name": "out"},
    ]
    for stream, changed in zip(streams, changes.get("streams", ()), strict=False):
        stream.update(changed)
    sink = {"name": "sink", "sendTo": {"from": "views", "stream": "out"}}
    spec = changes | {
        "systems": [{"name": "main", "kafka": {"bootstrapServers": "broker:9092"}}],
        "streams": [{"system": "main"} | stream for stream in streams],
        "operators": [*changes.get("operators", ()), sink],
    }
    document = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "a"}}
    parsed = parse_data(document | {"spec": spec})
    assert not parsed.problems
    return {problem.path: (problem.reason, problem.message) for problem in start_problems(parsed.apps[0])}


@pytest.mark.parametrize(("changes", "path", "mend"), WRONG)
def test_fields_that_contradict_each_other_are_invalid_and_the_message_has_the_mend(
    changes: dict[str, Any], path: str, mend: str
) -> None:
    reason, message = problems_of(changes)[path]
    assert reason is Reason.INVALID_SPEC
    assert mend in message


TIMED = {"streams": [{"eventTime": {"column": "at"}}]}
BY_USER = {"name": "by-user", "partitionBy": {"from": "views", "key": "user"}}


@pytest.mark.parametrize(
    "changes",
    [
        TIMED | {"operators": [{"name": "n", "aggregate": TOTALS | WINDOW}]},
        TIMED | {"operators": [{"name": "n", "aggregate": TOTALS | WINDOW | {"from": "by-user"}}, BY_USER]},
        TIMED | {"operators": [{"name": "n", "join": LEFT_JOIN}]},
        {"operators": [{"name": "n", "join": LEFT_JOIN | {"time": "arrival"}}]},
        {"operators": [{"name": "n", "join": LEFT_JOIN | {"type": "inner"}}]},
        {"operators": [{"name": "n", "aggregate": TOTALS | WINDOW | {"emit": "onUpdate"}}]},
        {"mode": "batch", "operators": [{"name": "n", "aggregate": TOTALS | WINDOW}]},
    ],
)
def test_rows_may_wait_for_a_watermark_that_comes(changes: dict[str, Any]) -> None:
    assert "spec.operators[0].aggregate" not in problems_of(changes)
    assert "spec.operators[0].join" not in problems_of(changes)


def test_an_app_that_would_read_its_own_dead_letters_is_a_cycle() -> None:
    found = problems_of({"onBadRecord": {"action": "deadLetter", "stream": "views"}})
    reason, message = found["spec.onBadRecord.stream"]
    assert (reason, message.endswith("; name another stream")) == (Reason.INVALID_GRAPH, True)
