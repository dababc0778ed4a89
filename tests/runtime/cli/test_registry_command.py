"""`streamapp registry`: columns of a registered schema, and how an app's columns differ from it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner, Result

from streamapp.cli.app_sources import read_apps
from streamapp.cli.main import root
from streamapp_runtime.cli.log_commands.log_target import row_decoder
from streamapp_runtime.systems.stream_system import HEADERS
from tests.harness.kafka.schema_server import SchemaServer, schema_server

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture
def server() -> Iterator[SchemaServer]:
    with schema_server() as registry:
        add_version(registry, ("user", "string"))
        add_version(registry, ("user", "string"), ("n", "long"), ("either", ["int", "string"]))
        yield registry


def add_version(server: SchemaServer, *fields: tuple[str, Any]) -> None:
    parts = [{"name": name, "type": kind} for name, kind in fields]
    schema = {"type": "record", "name": "View", "fields": parts}
    number = str(len(server.versions) + 1)
    server.versions["page.views-value", number] = {"schema": json.dumps(schema)}


def run(*args: str | Path) -> Result:
    result = CliRunner().invoke(root, ["registry", *map(str, args)], prog_name="streamapp")
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def app(folder: Path, url: str, columns: str | None, **kafka: Any) -> Path:
    system = {"bootstrapServers": "kafka:9092", "schemaRegistry": {"url": url}, **kafka}
    views = {"name": "views", "system": "main", "topic": "page.views", "format": "avro", "registry": True}
    document = {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "a"},
        "spec": {
            "systems": [{"name": "main", "kafka": system}],
            "streams": [
                {**views, **({"columns": columns} if columns else {})},
                {"name": "out", "system": "main"},
            ],
            "operators": [{"name": "sent", "sendTo": {"from": "views", "stream": "out"}}],
        },
    }
    path = folder / "app.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def test_the_columns_of_a_stream_that_has_none_yet(server: SchemaServer, tmp_path: Path) -> None:
    source = app(tmp_path, server.url, None)
    refused = CliRunner().invoke(root, ["check", str(source)])
    assert "columns: missing; the app reads" in refused.stderr
    assert refused.stderr.count("`streamapp registry columns` prints") == 1
    result = run("columns", source, "views")
    assert result.stdout == "user STRING, n BIGINT\n"
    assert result.stderr == "left out: either: it is a union of int and string, which no column holds\n"
    older = run("columns", server.url, "page.views-value", "--version", "1", "-o", "json")
    assert json.loads(older.stdout) == {
        "subject": "page.views-value",
        "version": 1,
        "columns": "user STRING",
        "leftOut": {},
    }


def test_the_difference_between_an_app_and_the_registry(server: SchemaServer, tmp_path: Path) -> None:
    source = app(tmp_path, server.url, "user STRING, page STRING")
    result = run("diff", source)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "views: page.views-value, versions 1 to 2",
        "  new      n BIGINT",
        "  missing  page: the schema has no such field",
    ]
    refused = run("diff", app(tmp_path, server.url, "user BIGINT"), "views", "-o", "json")
    assert refused.exit_code == 1
    (facts,) = json.loads(refused.stdout)
    assert facts["refused"] == [
        f"version {number} cannot be read as the stream's columns: user: string is written there, "
        "the column is int64"
        for number in (1, 2)
    ]
    same = run("diff", app(tmp_path, server.url, "user STRING, n BIGINT"))
    assert same.stdout.splitlines()[1:] == ["  no difference"]


def test_the_difference_of_keys_is_that_of_their_columns(server: SchemaServer, tmp_path: Path) -> None:
    source = app(tmp_path, server.url, "user STRING, n BIGINT")
    document = yaml.safe_load(source.read_text())
    views = document["spec"]["streams"][0]
    views["metadata"] = {"keyFormat": "avro", "keyColumns": "tenant STRING, shard INT"}
    source.write_text(yaml.safe_dump(document))
    fields = [{"name": "tenant", "type": "string"}, {"name": "id", "type": "long"}]
    key = {"type": "record", "name": "Key", "fields": fields}
    server.versions["page.views-key", "1"] = {"schema": json.dumps(key)}
    result = run("diff", source)
    assert (result.exit_code, result.stdout.splitlines()[2:]) == (
        0,
        [
            "views: page.views-key, version 1",
            "  new      id BIGINT",
            "  missing  shard: the schema has no such field",
        ],
    )
    server.versions["page.views-key", "2"] = {"schema": '"string"'}
    alone = run("diff", source)
    assert alone.exit_code == 1
    assert alone.stdout.splitlines()[-1] == (
        "  refused  version 2 cannot be read as the stream's columns: it is a value alone, and the stream "
        "has several columns of keys"
    )


def test_the_registry_is_asked_with_the_entries_of_the_secret(server: SchemaServer, tmp_path: Path) -> None:
    source = app(tmp_path, server.url, "user STRING", configSecret={"name": "kafka-client"})
    without = run("columns", source, "views")
    assert without.exit_code == 1
    assert "kafka-client" in without.stderr
    (secrets := tmp_path / "secrets").mkdir()
    (secrets / "schema.registry.basic.auth.user.info").write_text("ann:secret")
    assert run("columns", source, "views", "--secrets", secrets).exit_code == 0
    assert run("columns", server.url, "page.views-value", "--secrets", secrets).exit_code == 0
    assert set(server.logins) == {"Basic YW5uOnNlY3JldA=="}


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["columns", "APP", "vievs"], 1, 'no stream of a that has registry: true is named "vievs"'),
        (["diff", "APP", "out"], 1, 'is named "out"; there is "views"'),
        (["columns", "URL", "none-value"], 1, 'the registry has no subject "none-value"'),
        (["columns", "URL", "page.views-value", "--version", "9"], 1, '"page.views-value" of version 9'),
        (["columns", "http://127.0.0.1:1", "x"], 3, "the schema registry cannot be asked"),
        (["columns", "URL/elsewhere", "x"], 3, "has no such request as a schema registry"),
        (["diff", "missing.yaml"], 2, "cannot read missing.yaml"),
    ],
)
def test_what_cannot_be_answered(
    server: SchemaServer, tmp_path: Path, arguments: list[str], exit_code: int, message: str
) -> None:
    source = app(tmp_path, server.url, "user STRING")
    result = run(*(each.replace("URL", server.url).replace("APP", str(source)) for each in arguments))
    assert result.exit_code == exit_code
    assert message in result.stderr


def test_records_are_read_as_rows_by_their_schemas(server: SchemaServer, tmp_path: Path) -> None:
    """What `streamapp log read --rows` prints of a stream of Kafka."""
    server.register(7, json.loads(server.versions["page.views-value", "1"]["schema"]))
    declared = read_apps(str(app(tmp_path, server.url, "user STRING")))[0]
    told: list[str] = []
    decoder = row_decoder(declared, "views", None, told.append)
    values = [b"\0\0\0\0\x07\x06ann", b"\x06bob", b"\0\0\0\0\x08\x06cyd", None]
    headers = [[], [{"name": "__value_schema_id", "value": b"\0\0\0\0\x07"}], [], []]
    columns = [pa.array([0, 1, 2, 3]), pa.array(values, pa.binary()), pa.array(headers, HEADERS.type)]
    records = pa.RecordBatch.from_arrays(columns, ["offset", "value", "headers"])
    decoded = decoder.decoded("views#0", records)
    assert decoded.column("value").to_pylist() == [b'{"user":"ann"}', b'{"user":"bob"}', values[2], None]
    assert decoded.column("schemaId").to_pylist() == ["7", "7", "8", None]
    assert told == ["views#0 at offset 2: schema id 8: the registry says: Schema not found"]


def test_keys_are_read_as_objects_of_their_columns(server: SchemaServer, tmp_path: Path) -> None:
    source = app(tmp_path, server.url, "user STRING")
    document = yaml.safe_load(source.read_text())
    views = document["spec"]["streams"][0]
    views |= {"format": "json", "registry": False, "key": "tenant"}
    views["metadata"] = {"keyFormat": "avro", "keyColumns": "tenant STRING"}
    source.write_text(yaml.safe_dump(document))
    server.register(8, "string")
    told: list[str] = []
    decoder = row_decoder(read_apps(str(source))[0], "views", None, told.append)
    assert decoder.reads_headers
    keys = [b"\0\0\0\0\x08\x02a", b"\x02b", b"plain", None]
    values = [b'{"user": "ann"}', None, b'{"user": "bob"}', b"{}"]
    headers = [[], [{"name": "__key_schema_id", "value": b"\0\0\0\0\x08"}], [], []]
    columns = [pa.array(range(4)), pa.array(keys), pa.array(values), pa.array(headers, HEADERS.type)]
    records = pa.RecordBatch.from_arrays(columns, ["offset", "key", "value", "headers"])
    decoded = decoder.decoded("views#0", records)
    assert decoded.column("key").to_pylist() == [b'{"tenant":"a"}', b'{"tenant":"b"}', b"plain", None]
    assert decoded.column("keySchemaId").to_pylist() == ["8", "8", None, None]
    assert decoded.column("value").to_pylist()[:2] == [b'{"user":"ann"}', None]
    reason = "it has no frame of a schema registry: it begins with the byte 0x70"
    assert told == [f"views#0 at offset 2: its key: {reason}"]


def test_an_app_without_registered_streams(tmp_path: Path) -> None:
    source = app(tmp_path, "http://127.0.0.1:1", "user STRING")
    source.write_text(source.read_text().replace("registry: true", "registry: false"))
    result = run("diff", source)
    assert (result.exit_code, result.stderr) == (1, "Error: no stream of a has registry: true\n")


def edited(source: Path, **fields: Any) -> Path:
    """The same app with other fields of views; those that are None are left out."""
    document = yaml.safe_load(source.read_text())
    views = document["spec"]["streams"][0] | fields
    document["spec"]["streams"][0] = {name: value for name, value in views.items() if value is not None}
    source.write_text(yaml.safe_dump(document))
    return source


KEYED = {"metadata": {"keyFormat": "avro", "keyColumns": "user STRING"}, "key": "user", "columns": "n INT"}


@pytest.mark.parametrize(
    ("fields", "words", "code", "reason"),
    [
        ({}, (), 1, 'rows cannot be written to "views": the subject "page.views-value" has no schema'),
        ({"writerSchema": {"id": 9}}, (), 1, "schema id 9: the registry says: Schema not found"),
        ({"columns": None}, (), 1, '"views" declares no columns of lines: write columns for it'),
        ({"format": "debezium", "key": "user"}, (), 1, 'the subject "page.views-value" has no schema'),
        ({}, ("--format", "text"), 2, "lines of text have no columns"),
        (KEYED, ("--key", "n"), 2, '"views" has keys of a schema registry; leave --key out'),
        (KEYED, (), 1, 'keys cannot be written to "views": the subject "page.views-key" has no schema'),
    ],
)
def test_lines_that_no_schema_is_for_are_refused_in_a_line_before_the_cluster_is_asked(
    server: SchemaServer,
    tmp_path: Path,
    fields: dict[str, Any],
    words: tuple[str, ...],
    code: int,
    reason: str,
) -> None:
    source = edited(app(tmp_path, server.url, "user STRING"), **fields)
    arguments = ["log", "write", str(source), "views", *words]
    refused = CliRunner().invoke(root, arguments, input='{"user": "u1"}\n', prog_name="streamapp")
    assert (refused.exit_code, reason in refused.stderr) == (code, True), refused.output
    assert refused.stderr.splitlines()[-1].startswith("Error: ")
    assert [path for path in server.paths if path.endswith("/versions")] == []


def test_lines_wait_for_no_registry_that_is_away(tmp_path: Path) -> None:
    source = app(tmp_path, "http://127.0.0.1:1", "user STRING")
    refused = CliRunner().invoke(root, ["log", "write", str(source), "views"], input="{}\n")
    assert (refused.exit_code, refused.stderr.splitlines()) == (
        3,
        ["Error: the schema registry cannot be asked: http://127.0.0.1:1: Connection refused"],
    )


def test_rows_are_made_up_as_the_lines_that_are_written_and_no_registry_is_asked(tmp_path: Path) -> None:
    source = app(tmp_path, "http://127.0.0.1:1", "page STRING")
    edited(source, key="user", metadata={"keyFormat": "avro", "keyColumns": "user STRING"})
    sampled = CliRunner().invoke(root, ["sample", str(source), "views", "--rows", "2"])
    assert (sampled.exit_code, sampled.stderr) == (0, "")
    assert [list(json.loads(line)) for line in sampled.stdout.splitlines()] == [["page", "user"]] * 2
    edited(source, format="debezium", metadata=None, columns="user STRING, day DATE", key="user")
    sampled = CliRunner().invoke(root, ["sample", str(source), "views", "--rows", "1"])
    (change,) = map(json.loads, sampled.stdout.splitlines())
    row = {"user": change["after"]["user"], "day": "2026-01-01"}
    assert change == {"before": None, "after": row, "op": "r"}
