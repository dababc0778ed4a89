"""Apps that write streams whose records have keys under a registry."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import AppFailedError
from tests.harness.core.app_resources import app_resource, registry_system
from tests.harness.kafka.schema_server import SchemaServer, schema_server

pytestmark = pytest.mark.usefixtures("loopback")
USER = {"type": "record", "name": "Key", "fields": [{"name": "user", "type": "string"}]}
TENANT_FIELDS = [{"name": "tenant", "type": "string"}, {"name": "id", "type": "long"}]
TENANT = {"type": "record", "name": "TenantKey", "namespace": "org.shop", "fields": TENANT_FIELDS}
ANN = b"\0\0\0\0\x07\x06ann"
TENANT_SEVEN = b"\0\0\0\0\x08\x02a\x0e"
OF_USER = {"key": "user", "metadata": {"keyFormat": "avro", "keyColumns": "user STRING"}}
OF_TENANT = {"metadata": {"keyFormat": "avro", "keyColumns": "tenant STRING, id BIGINT"}}
PARTITIONS = 3


@pytest.fixture
def server() -> Iterator[SchemaServer]:
    with schema_server() as registry:
        registry.register(7, USER)
        registry.register(8, TENANT)
        registry.register(9, "string")
        registry.subjects["people-key"] = [7]
        yield registry


def app(url: str, out: dict[str, Any], views: dict[str, Any] | None = None) -> str:
    views = views or {"key": "user", "columns": "user STRING, tenant STRING, id BIGINT, page STRING"}
    columns = out.get("columns", "user, page")
    made = {"map": {"from": "views", "select": out.pop("select", columns)}}
    streams = [{"name": "views", **views}, {"name": "out", "topic": "people", **out}, {"name": "bad"}]
    operators = [{"name": "made", **made}, {"name": "sent", "sendTo": {"from": "made", "stream": "out"}}]
    bad = {"action": "deadLetter", "stream": "bad"}
    return json.dumps(
        app_resource(operators, streams, system=registry_system(url), onBadRecord=bad), indent=1
    )


def started(document: str) -> InProcessApp:
    return InProcessApp(document, partitions={"views": 1, "out": PARTITIONS})


def delete(running: InProcessApp, *keys: bytes) -> None:
    """Records of views that delete."""
    nulls = pa.nulls(len(keys), pa.binary())
    arrays = [pa.array(keys, pa.binary()), nulls, pa.array([running.now] * len(keys))]
    running.send_records({"views": pa.RecordBatch.from_arrays(arrays, schema=RECORDS)})


def written(running: InProcessApp) -> list[tuple[bytes | None, Any]]:
    """The keys and values of out; each is where a client puts a record of this key."""
    records = []
    for index in range(PARTITIONS):
        partition = Partition("out", index)
        span = running._systems.spans([partition])[partition]
        for batch in running._systems.read(partition, 0, span.end):
            keys = batch.column("key")
            assert set(partition_of(keys.drop_null(), PARTITIONS).tolist()) <= {index}
            values = [value and json.loads(value) for value in batch.column("value").to_pylist()]
            records += zip(keys.to_pylist(), values, strict=True)
    return records


def test_a_column_beside_those_of_values_is_written_as_the_key(server: SchemaServer) -> None:
    with started(app(server.url, OF_USER | {"select": "user, page"})) as running:
        users = ["ann", "bob", "cyd", "dan"]
        running.send("views", [{"user": user, "page": "/"} for user in users])
        keys = {b"\0\0\0\0\x07\x06" + user.encode() for user in users}
        assert sorted(written(running)) == [(key, {"page": "/"}) for key in sorted(keys)]
        assert running.bad() == []
    assert "/subjects/people-key/versions" not in server.paths


def test_a_column_of_the_values_is_in_the_key_too_and_one_that_is_null_is_no_key(
    server: SchemaServer,
) -> None:
    out = {"columns": "user STRING, page STRING", "key": "user", "metadata": {"keyFormat": "avro"}}
    with started(app(server.url, out | {"select": "user, page"})) as running:
        running.send("views", [{"user": "ann", "page": "/"}, {"page": "/b"}])
        nobody, ann = sorted(written(running), key=lambda record: record[0] or b"")
        assert (ann, nobody[0]) == ((ANN, {"user": "ann", "page": "/"}), None)


def test_a_schema_of_a_value_alone_is_written_by(server: SchemaServer) -> None:
    server.subjects["people-key"] = [9]
    with started(app(server.url, OF_USER | {"select": "user, page"})) as running:
        running.send("views", {"user": "ann", "page": "/"})
        assert written(running) == [(b"\0\0\0\0\x09\x06ann", {"page": "/"})]


def test_a_deletion_has_the_key_of_the_row_that_it_deletes(server: SchemaServer) -> None:
    with started(app(server.url, OF_USER | {"select": "user, page"})) as running:
        running.send("views", {"user": "ann", "page": "/"})
        delete(running, b"ann")
        assert written(running) == [(ANN, {"page": "/"}), (ANN, None)]


def test_several_columns_are_one_key(server: SchemaServer) -> None:
    server.subjects["people-key"] = [8]
    with started(app(server.url, OF_TENANT | {"select": "page, id, tenant"})) as running:
        running.send("views", {"tenant": "a", "id": 7, "page": "/"})
        assert written(running) == [(TENANT_SEVEN, {"page": "/"})]
        with pytest.raises(AppFailedError, match="a row that deletes has no columns to make its key of"):
            delete(running, b"ann")


def test_a_deletion_with_a_key_of_several_columns_is_written_by_the_schema_of_the_stream(
    server: SchemaServer,
) -> None:
    server.register(12, TENANT | {"name": "Other", "fields": TENANT_FIELDS[::-1]})
    server.subjects["people-key"] = [8]
    metadata = OF_TENANT["metadata"]
    views = {"key": "k", "columns": "page STRING", "metadata": metadata | {"key": "k"}}
    with started(app(server.url, OF_TENANT | {"select": "page, id, tenant"}, views)) as running:
        delete(running, b"\0\0\0\0\x0c\x0e\x02a")
        assert written(running) == [(TENANT_SEVEN, None)]


@pytest.mark.parametrize(
    ("more", "subject"),
    [
        ({}, "people-key"),
        ({"subject": "record"}, "org.shop.TenantKey"),
        ({"subject": "topicRecord"}, "people-org.shop.TenantKey"),
    ],
)
def test_a_schema_of_keys_is_registered_where_the_app_says_so(
    server: SchemaServer, more: dict[str, Any], subject: str
) -> None:
    server.subjects.clear()
    writer = {"keyAvroSchema": json.dumps(TENANT), "keyWriterSchema": {"autoRegister": True, **more}}
    out = {"metadata": OF_TENANT["metadata"] | writer, "select": "page, id, tenant"}
    with started(app(server.url, out)) as running:
        running.send("views", {"tenant": "a", "id": 7, "page": "/"})
        assert written(running) == [(TENANT_SEVEN, {"page": "/"})]
    assert set(server.subjects) == {subject}


def test_without_a_schema_of_its_own_a_stream_registers_one_of_the_columns_of_keys(
    server: SchemaServer,
) -> None:
    server.subjects.clear()
    metadata = OF_USER["metadata"] | {"keyWriterSchema": {"autoRegister": True}}
    with started(app(server.url, OF_USER | {"metadata": metadata, "select": "user, page"})) as running:
        running.send("views", {"user": "ann", "page": "/"})
        assert [key for key, _ in written(running)] == [b"\0\0\0\0\x04\x02\x06ann"]
    made = json.loads(server.ids["4"]["schema"])
    assert (made["name"], [field["name"] for field in made["fields"]]) == ("Key", ["user"])


def refusal(document: str) -> tuple[Reason, str, str]:
    with pytest.raises(AppRefusedError) as refused:
        InProcessApp(document)
    (problem,) = refused.value.problems
    return problem.reason, problem.path, problem.message


@pytest.mark.parametrize(
    ("schema_id", "message"),
    [
        (99, "schema id 99: the registry says: Schema not found"),
        (8, "user: the schema has no such field"),
        (None, 'the subject "people-key" has no schema; register one, or say autoRegister: true'),
    ],
)
def test_keys_without_a_place_in_their_schema_refuse_the_app_before_it_starts(
    server: SchemaServer, schema_id: int | None, message: str
) -> None:
    server.subjects.clear()
    writer = {} if schema_id is None else {"keyWriterSchema": {"id": schema_id}}
    metadata = OF_USER["metadata"] | writer
    found = refusal(app(server.url, OF_USER | {"metadata": metadata, "select": "user, page"}))
    path = "spec.streams[1].metadata.keyWriterSchema"
    assert found == (Reason.SCHEMA_INCOMPATIBLE, path, f'keys cannot be written to "out": {message}')


def test_a_schema_of_keys_that_the_registry_finds_incompatible_is_refused_in_its_words(
    server: SchemaServer,
) -> None:
    server.incompatible = ["READER_FIELD_MISSING_DEFAULT_VALUE: user"]
    metadata = OF_USER["metadata"] | {"keyWriterSchema": {"autoRegister": True}}
    found = refusal(app(server.url, OF_USER | {"metadata": metadata, "select": "user, page"}))
    assert found[2] == 'keys cannot be written to "out": READER_FIELD_MISSING_DEFAULT_VALUE: user'
    assert server.subjects == {"people-key": [7]}


def test_rows_that_lack_a_column_of_the_key_are_refused(server: SchemaServer) -> None:
    found = refusal(app(server.url, OF_TENANT | {"select": "page, id"}))
    assert 'stream "out" has a column "tenant", and the rows sent do not' in found[2]


def test_of_a_stream_that_is_only_written_metadata_says_the_form_of_keys_alone(server: SchemaServer) -> None:
    metadata = OF_USER["metadata"] | {"offset": "at"}
    _, path, message = refusal(app(server.url, OF_USER | {"metadata": metadata, "select": "user, page"}))
    assert (path, message) == (
        "spec.streams[1].metadata",
        'the app does not read "out", and metadata is of records that are read; only the form of keys is of '
        "records that are written",
    )


def test_dead_letters_have_no_keys_of_a_registry(server: SchemaServer) -> None:
    document = app(server.url, OF_USER | {"select": "user, page"}).replace(
        '"stream": "bad"', '"stream": "out"'
    )
    _, path, message = refusal(document)
    assert path == "spec.onBadRecord.stream"
    assert 'bad records are written without a schema; "out" has a registry' in message


def test_what_the_app_writes_it_reads_again(server: SchemaServer) -> None:
    views = {"key": "user", "columns": "page STRING", "metadata": OF_USER["metadata"]}
    out = {"columns": "page STRING", "select": "user, page", "feedback": True}
    document = json.loads(app(server.url, OF_USER | out, views))
    spec = document["spec"]
    spec["streams"].append({"name": "seen", "system": "main"})
    spec["operators"].append({"name": "again", "sendTo": {"from": "out", "stream": "seen"}})
    with started(json.dumps(document, indent=1)) as running:
        arrays = [pa.array([ANN]), pa.array([b'{"page": "/"}']), pa.array([running.now])]
        running.send_records({"views": pa.RecordBatch.from_arrays(arrays, schema=RECORDS)})
        assert written(running) == [(ANN, {"page": "/"})]
        assert running.rows("seen") == [{"user": "ann", "page": "/"}]
