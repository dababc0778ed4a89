"""Streams under a schema registry that the kit has in memory: rows are sent as they are."""

import json
from typing import Any

import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import UnfitRowError, WrongUseError
from streamapp_runtime.testing.record_rows import stored_batches
from tests.harness.core.app_resources import app_resource, registry_system

PROTO = 'syntax = "proto3"; message View { string user = 1; optional string page = 2; }'


def record(name: str, /, **fields: Any) -> dict[str, Any]:
    parts = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "name": name, "fields": parts}


VIEW = record("View", user="string", page=["null", "string"])
KEY = record("Key", user="string")
SCHEMAS = {
    "avro": VIEW,
    "protobuf": PROTO,
    "json": {"type": "object", "properties": {"user": {"type": "string"}, "page": {"type": "string"}}},
}


def app(
    views: dict[str, Any], out: dict[str, Any] | None = None, select: str = "user, page"
) -> dict[str, Any]:
    streams = [
        {"name": "views", "columns": "user STRING, page STRING", **views},
        {"name": "out", **(out or {})},
    ]
    operators = [
        {"name": "made", "map": {"from": "views", "select": select}},
        {"name": "sent", "sendTo": {"from": "made", "stream": "out"}},
    ]
    system = registry_system("http://127.0.0.1:1")
    return app_resource(operators, streams, system=system, onBadRecord={"action": "skip"})


def raw(running: InProcessApp, stream: str) -> list[tuple[bytes | None, bytes | None]]:
    """The keys and values of a stream as they lie there."""
    batches = [batch for _, batch in stored_batches(running._systems, stream)]
    return [(row["key"], row["value"]) for batch in batches for row in batch.to_pylist()]


@pytest.mark.usefixtures("process")
def test_rows_are_written_as_protobuf_and_read_by_the_app() -> None:
    rows_are_written_and_read("protobuf")


@pytest.mark.parametrize("form", ["avro", "json"])
def test_rows_are_written_by_the_newest_schema_and_read_by_the_app(form: str) -> None:
    rows_are_written_and_read(form)


def rows_are_written_and_read(form: str) -> None:
    views = {"format": form, "registry": True, "key": "user"}
    with InProcessApp(app(views), schemas={"views-value": SCHEMAS[form]}) as running:
        running.send("views", [{"user": "ann", "page": "/"}, {"user": "bob"}])
        assert running.rows("out") == [{"user": "ann", "page": "/"}, {"user": "bob", "page": None}]
        assert running.bad() == []
        assert [(key, value and value[:5]) for key, value in raw(running, "views")] == [
            (b"ann", b"\0\0\0\0\x01"),
            (b"bob", b"\0\0\0\0\x01"),
        ]
        assert running.rows("views") == running.rows("out")


def test_records_of_added_partitions_are_read_at_once_as_without_a_registry() -> None:
    views = {"format": "avro", "registry": True, "key": "user"}
    counted = app(views)
    counted["spec"]["operators"][0] = {
        "name": "made",
        "aggregate": {"from": "views", "aggregates": "count(*) AS n"},
    }
    with InProcessApp(counted, schemas={"views-value": VIEW}) as running:
        running.grow("views", 4)
        running.send("views", [{"user": user} for user in ("ann", "bob", "cyd", "dan")])
        assert {record.partition for record in running.records("views")} != {0}
        assert sorted(row["user"] for row in running.rows("out")) == ["ann", "bob", "cyd", "dan"]


def test_a_newer_schema_is_that_of_rows_from_then_on_and_of_outputs_after_a_restart() -> None:
    form = {"format": "avro", "registry": True}
    schemas = {"views-value": VIEW, "out-value": VIEW}
    with InProcessApp(app(form, form), schemas=schemas) as running:
        running.send("views", {"user": "ann"})
        newer = record("View", user="string", page=["null", "string"], tier=["null", "string"])
        newer["fields"][2]["default"] = None
        assert running.register("views-value", newer) == running.register("out-value", newer) == 2
        running.send("views", {"user": "bob"})
        running.restart()
        running.send("views", {"user": "cyd"})
        ids = [[value and value[4] for _, value in raw(running, name)] for name in ("views", "out")]
        assert ids == [[1, 2, 2], [1, 1, 2]]
        assert [row["user"] for row in running.rows("out")] == ["ann", "bob", "cyd"]


def test_columns_of_keys_are_written_by_their_own_schema_as_tombstones_are() -> None:
    metadata = {"keyFormat": "avro", "keyColumns": "user STRING"}
    views = {
        "format": "avro",
        "registry": True,
        "key": "user",
        "columns": "page STRING",
        "metadata": metadata,
    }
    schemas = {"views-value": record("View", page="string"), "views-key": KEY}
    with InProcessApp(app(views), schemas=schemas, partitions=3) as running:
        running.send("views", {"user": "ann", "page": "/"})
        running.delete("views", "ann")
        assert raw(running, "views") == [
            (b"\0\0\0\0\x02\x06ann", b"\0\0\0\0\x01\x02/"),
            (b"\0\0\0\0\x02\x06ann", None),
        ]
        assert [(seen.key, seen.row) for seen in running.records("views")] == [
            ('{"user":"ann"}', {"user": "ann", "page": "/"}),
            ('{"user":"ann"}', None),
        ]
        assert [(seen.key, seen.row) for seen in running.records("out")] == [
            ("ann", {"user": "ann", "page": "/"}),
            ("ann", None),
        ]
        assert running.bad() == []


@pytest.mark.parametrize("registry", [True, False])
def test_a_row_is_deleted_also_where_the_schema_of_avro_has_no_place_for_nulls(registry: bool) -> None:
    out = {"format": "avro", "key": "user", "registry": registry}
    out |= {} if registry else {"avroSchema": json.dumps(VIEW)}
    schemas = {"out-value": VIEW} if registry else {}
    with InProcessApp(app({"key": "user"}, out), schemas=schemas) as running:
        running.send("views", [{"user": "ann"}, {"user": "bob"}])
        running.delete("views", "ann")
        rows = [{"user": "ann", "page": None}, {"user": "bob", "page": None}, None]
        assert running.rows("out") == rows
        assert [record.key for record in running.records("out")] == ["ann", "bob", "ann"]


def test_a_key_of_several_columns_and_one_that_is_a_column_of_the_values_too() -> None:
    tenant = {"metadata": {"keyFormat": "avro", "keyColumns": "tenant STRING, id BIGINT"}}
    schemas: dict[str, Any] = {"views-key": record("Key", tenant="string", id="long")}
    with InProcessApp(app(tenant, select="id, page"), schemas=schemas) as running:
        running.send("views", {"tenant": "a", "id": 7, "page": "/"})
        assert raw(running, "views") == [(b"\0\0\0\0\x01\x02a\x0e", b'{"user":null,"page":"/"}')]
        assert running.rows("views") == [{"user": None, "page": "/", "tenant": "a", "id": 7}]
        assert running.rows("out") == [{"id": 7, "page": "/"}]
        running.send("views", {"id": 8, "page": "/"}, key="plain")
        assert [seen.key for seen in running.records("views")] == ['{"tenant":"a","id":7}', "plain"]
    with InProcessApp(
        app({"key": "user", "metadata": {"keyFormat": "json"}}),
        schemas={"views-key": json.dumps({"type": "string"})},
    ) as running:
        running.send("views", {"user": "ann", "page": "/"})
        assert raw(running, "views") == [(b'\0\0\0\0\x01"ann"', b'{"user":"ann","page":"/"}')]
        assert running.bad() == []


def test_registered_keys_of_outputs_are_shown_as_objects_of_their_columns() -> None:
    out = {"key": "user", "metadata": {"keyFormat": "avro"}}
    with InProcessApp(app({"key": "user"}, out), schemas={"out-key": KEY}) as running:
        running.send("views", {"user": "ann", "page": "/"})
        assert raw(running, "out") == [(b"\0\0\0\0\x01\x06ann", b'{"user":"ann","page":"/"}')]
        assert [seen.key for seen in running.records("out")] == ['{"user":"ann"}']


def test_a_schema_has_the_id_that_the_stream_writes_by_and_others_have_new_ones() -> None:
    views = {"format": "avro", "registry": True, "writerSchema": {"id": 1}}
    schemas = {"out-value": record("Out", user="string", page=["null", "string"]), "views-value": VIEW}
    with InProcessApp(app(views, {"format": "avro", "registry": True}), schemas=schemas) as running:
        assert running.register("views-value", record("View", user="string")) == 3
        running.send("views", {"user": "ann", "page": "/"})
        assert raw(running, "views") == [(None, b"\0\0\0\0\x01\x06ann\x02\x02/")]
        assert raw(running, "out") == [(None, b"\0\0\0\0\x02\x06ann\x02\x02/")]


def test_one_id_is_of_one_schema() -> None:
    form = {"format": "avro", "registry": True, "writerSchema": {"id": 12}}
    with pytest.raises(WrongUseError, match="schema id 12 is another schema already"):
        InProcessApp(app(form, form), schemas={"views-value": VIEW, "out-value": KEY})


def test_a_schema_is_registered_only_where_the_stream_says_so() -> None:
    views = {"format": "avro", "registry": True}
    with InProcessApp(app(views), schemas={}) as running:
        with pytest.raises(
            WrongUseError, match='the subject "views-value" has no schema; register one'
        ) as refused:
            running.send("views", {"user": "ann"})
        assert "\n" not in str(refused.value)
    with InProcessApp(app(views | {"writerSchema": {"autoRegister": True}}), schemas={}) as running:
        running.send("views", {"user": "ann"})
        assert running.rows("out") == [{"user": "ann", "page": None}]


def test_rows_that_the_schema_has_no_place_for_are_refused_by_their_number() -> None:
    with InProcessApp(app({"format": "avro", "registry": True}), schemas={"views-value": VIEW}) as running:
        with pytest.raises(UnfitRowError, match='row 1: "views": a row does not fit the Avro schema: '):
            running.send("views", [{"user": "ann"}, {"page": "/"}])
        assert running.size("views") == 0


def test_the_app_is_refused_where_its_outputs_have_no_schema() -> None:
    with pytest.raises(AppRefusedError, match='the subject "out-value" has no schema'):
        InProcessApp(app({}, {"format": "avro", "registry": True}), schemas={})


def test_a_subject_that_no_stream_has_is_refused_with_the_nearest() -> None:
    views = {"format": "avro", "registry": True}
    with pytest.raises(WrongUseError, match=r'"view-value"; did you mean "views-value"'):
        InProcessApp(app(views), schemas={"view-value": VIEW})
    with InProcessApp(app({})) as running, pytest.raises(WrongUseError, match="give TestApp schemas="):
        running.register("views-value", VIEW)


MONEY, TAX = record("Money", cents="long"), record("Tax", due="Money")


def referring(schema: Any, **subjects: str) -> dict[str, Any]:
    references = [{"name": name, "subject": subject, "version": 1} for name, subject in subjects.items()]
    return {"schema": schema, "references": references}


@pytest.mark.parametrize("named", [{}, {"writerSchema": {"id": 1}}])
def test_rows_are_written_by_a_schema_that_refers_to_others(named: dict[str, Any]) -> None:
    columns = "user STRING, tax STRUCT<due: STRUCT<cents: BIGINT>>"
    views = {"format": "avro", "registry": True, "columns": columns, **named}
    schemas = {
        "views-value": referring(record("View", user="string", tax="Tax"), Money="money", Tax="tax"),
        "tax": referring(json.dumps(TAX), Money="money"),
        "money": MONEY,
    }
    with InProcessApp(app(views, select="user, tax.due.cents AS cents"), schemas=schemas) as running:
        row = {"user": "ann", "tax": {"due": {"cents": 7}}}
        running.send("views", row)
        assert running.rows("views") == [row]
        assert running.rows("out") == [{"user": "ann", "cents": 7}]
        newer = running.register("money", record("Money", cents="long", currency="string"))
        again = referring(record("View", user="string", tax="Money"), Money="money")
        again["references"][0]["version"] = 2
        assert running.register("views-value", again) == newer + 1


@pytest.mark.usefixtures("process")
def test_protobuf_is_written_by_a_schema_that_imports_another() -> None:
    protobuf = 'syntax = "proto3"; import "tax.proto"; message View { string user = 1; Tax tax = 2; }'
    views = {"format": "protobuf", "registry": True, "columns": "user STRING, tax STRUCT<cents: BIGINT>"}
    schemas = {
        "views-value": referring(protobuf, **{"tax.proto": "tax"}),
        "tax": 'syntax = "proto3"; message Tax { int64 cents = 1; }',
    }
    with InProcessApp(app(views, select="user, tax.cents AS cents"), schemas=schemas) as running:
        running.send("views", {"user": "ann", "tax": {"cents": 7}})
        assert running.rows("out") == [{"user": "ann", "cents": 7}]


@pytest.mark.parametrize(
    ("schemas", "fault"),
    [
        ({"views-value": referring(VIEW, Tax="tax")}, '"tax" of version 1: the registry says: Subject not'),
        (
            {"views-value": referring(VIEW, Tax="tax"), "tax": referring(TAX, View="views-value")},
            '"tax" of version 1 refers to itself',
        ),
        ({"views-value": {"schema": VIEW, "references": [{"name": "Tax"}]}}, "a reference is a dict of name"),
    ],
)
def test_a_reference_to_nothing_is_refused_at_the_start(schemas: dict[str, Any], fault: str) -> None:
    with pytest.raises(WrongUseError, match=fault):
        InProcessApp(app({"format": "avro", "registry": True}), schemas=schemas)


TABLE = record("Value", id="long", name=["null", "string"], tier="string")
ENVELOPE = record(
    "Envelope",
    before=["null", TABLE],
    after=["null", "Value"],
    source=record("Source", lsn="long"),
    op="string",
    ts_ms=["null", "long"],
)
PROPERTIES = {"id": {"type": "integer"}, "name": {"oneOf": [{"type": "null"}, {"type": "string"}]}}
NULLABLE_ROW = {"oneOf": [{"type": "null"}, {"type": "object", "properties": PROPERTIES}]}
JSON_ENVELOPE = {
    "type": "object",
    "properties": {"before": NULLABLE_ROW, "after": NULLABLE_ROW, "op": {"type": "string"}},
}
ROW = {"id": 7, "name": "Ann"}


def table_app(**more: Any) -> dict[str, Any]:
    form = {"format": "debezium", "registry": True, "key": "id", "columns": "id BIGINT, name STRING"}
    return app(form | more, {"key": "id"}, select="id, name")


@pytest.mark.parametrize(
    "schemas",
    [
        {},
        {"views-value": ENVELOPE},
        {"views-value": {"schema": JSON_ENVELOPE, "schemaType": "JSON"}},
        {"views-value": ENVELOPE, "views-key": record("Key", id="long")},
    ],
)
def test_rows_and_changes_of_a_table_are_written_as_its_connector_does(schemas: dict[str, Any]) -> None:
    with InProcessApp(table_app(), schemas=schemas) as running:
        running.send("views", [ROW, {"id": 8}])
        running.send("views", {"op": "u", "before": {"id": 7}, "after": {"id": 7, "name": "Bob"}})
        running.send("views", {"op": "d", "before": {"id": 8}, "after": None, "source": {"lsn": 5}})
        running.delete("views", 7)
        assert running.bad() == []
        rows = [ROW, {"id": 8, "name": None}, {"id": 7, "name": "Bob"}, None, None]
        assert running.rows("views") == running.rows("out") == rows
        keys = ["7", "8", "7", "8", "7"]
        assert [seen.key for seen in running.records("out")] == keys
        shown = [f'{{"id":{key}}}' for key in keys] if "views-key" in schemas else keys
        assert [seen.key for seen in running.records("views")] == shown
        assert {key and key[0] for key, _ in raw(running, "views")} == (
            {0} if "views-key" in schemas else {ord("7"), ord("8")}
        )


def test_bytes_of_a_change_have_the_key_of_its_row_by_the_schema_of_keys() -> None:
    schemas = {"views-value": ENVELOPE, "views-key": record("Key", id="long")}
    with InProcessApp(table_app(), schemas=schemas) as running:
        running.send("views", ROW)
        ((key, value),) = raw(running, "views")
        assert value is not None
        running.send("views", value)
        assert raw(running, "views") == [(key, value)] * 2
        assert key == b"\0\0\0\0\x02\x0e"


def test_flattened_changes_are_rows_of_which_one_may_be_deleted() -> None:
    fields = ("before", "after", "op")  # of a table that has such columns
    texts = {name: ["null", "string"] for name in (*fields, "name", "__deleted")}
    columns = "id BIGINT, name STRING, before STRING, after STRING, op STRING"
    with InProcessApp(
        table_app(flattened=True, columns=columns),
        schemas={"views-value": record("Flat", id="long", **texts)},
    ) as running:
        row = {**ROW, "op": "c", "before": "x", "after": "y"}
        running.send("views", [row, {"id": 7, "__deleted": "true"}])
        assert running.rows("views") == [row, None]
        assert running.rows("out") == [ROW, None]
        assert running.bad() == []


def test_a_change_that_has_no_place_in_the_schema_is_refused_by_its_number() -> None:
    protobuf = {"schema": 'syntax = "proto3"; message Envelope { string op = 1; }', "schemaType": "PROTOBUF"}
    with (
        InProcessApp(table_app(), schemas={"views-value": protobuf}) as running,
        pytest.raises(WrongUseError, match="changes in Protobuf are not read; set the connector's"),
    ):
        running.send("views", ROW)
    with InProcessApp(table_app(), schemas={"views-value": ENVELOPE}) as running:
        with pytest.raises(UnfitRowError, match='row 1: "views" has no column "nam"; did you mean "name"'):
            running.send("views", [ROW, {"op": "c", "after": {"id": 7, "nam": "Ann"}}])
        with pytest.raises(UnfitRowError, match=r'row 1: "views": after\.id: it is null'):
            running.send("views", [ROW, {"name": "Ann"}])
