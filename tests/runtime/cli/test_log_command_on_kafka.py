"""`streamapp log` on a real broker: named by its address, or by an app whose streams are there."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner, Result
from confluent_kafka import Producer

from streamapp_runtime.cli.log import log
from streamapp_runtime.key_partitioning import partition_of
from tests.harness.kafka.broker import free_port
from tests.harness.kafka.schema_server import schema_server
from tests.harness.kafka.shared_topics import remove
from tests.harness.kafka.topic_records import committed, create
from tests.harness.machine.random_cases import share
from tests.harness.runs.page_views_run import app as page_views

ROOT = Path(__file__).parents[3]
PROGRAM = "from streamapp_runtime.cli.log import log; log(prog_name='log')"
VIEWS = '{"user":"ann","n":1}\n{"user":"bob","n":2}\n{"user":"ann","n":3}\n'


@pytest.fixture
def name(tmp_path: Path) -> str:
    return f"verb-{tmp_path.name}"


@pytest.fixture
def brokers(kafka: str) -> str:
    return f"kafka://{kafka}"


@pytest.fixture
def app(kafka: str, name: str, tmp_path: Path) -> str:
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump(page_views(kafka, name)))
    return str(file)


def run(*arguments: str, given: str | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(log, list(arguments), input=given)
    assert result.exit_code == code, result.output
    return result


def test_lines_come_back_by_key_and_others_find_them_committed(brokers: str, kafka: str, name: str) -> None:
    run("write", brokers, name, "--key", "user", "--partitions", "3", given=VIEWS)
    found = [json.loads(line) for line in run("read", brokers, name, "-o", "json").stdout.splitlines()]
    assert sorted(row["value"] for row in found) == sorted(VIEWS.splitlines())
    assert len({row["partition"] for row in found if row["key"] == "ann"}) == 1
    assert sorted(row["n"] for row in committed(kafka, name)) == [1, 2, 3]


def test_an_app_knows_its_streams_by_their_own_names(app: str, kafka: str, name: str) -> None:
    run("create", app, "users", "--partitions", "2")
    run("write", app, "users", "--key", "user", given='{"user":"ann","country":"NO"}\n')
    assert run("read", app, "users", "--keys").stdout == 'ann\t{"user":"ann","country":"NO"}\n'
    assert committed(kafka, f"{name}.users") == [{"user": "ann", "country": "NO"}]


def test_the_streams_of_an_app_are_listed_with_those_that_it_made(app: str, kafka: str, name: str) -> None:
    create(kafka, {f"{name}.other": 1})
    create(kafka, {f"{name}.views": 4, f"{name}.app.by-user": 3}, **{"retention.ms": "3600000"})
    create(kafka, {f"{name}.app.checkpoint": 1}, **{"cleanup.policy": "compact"})
    run("write", app, "views", given=VIEWS.replace('"n"', '"session":"s","n"'))
    header, *rows = run("list", app).stdout.splitlines()
    assert header.split() == ["STREAM", "PARTITIONS", "RECORDS", "BYTES", "KEEPS"]
    told = {row.split()[0]: row.split(maxsplit=4)[1:] for row in rows}
    assert told.keys() == {f"{name}.views", f"{name}.app.by-user", f"{name}.app.checkpoint"}
    assert told[f"{name}.app.by-user"] == ["3", "0", "-", "all, 3600000 ms"]
    assert told[f"{name}.app.checkpoint"][3] == "newest of each key"
    assert int(told[f"{name}.views"][1]) >= 3


def test_lines_are_records_of_a_registry_and_are_read_as_the_same_lines(
    kafka: str, name: str, tmp_path: Path
) -> None:
    user = {"type": "record", "name": "Key", "fields": [{"name": "user", "type": "string"}]}
    value = {"type": "record", "name": "View", "fields": [{"name": "n", "type": "long"}]}
    document = page_views(kafka, name)
    spec, views = document["spec"], {"name": "views", "topic": name, "format": "avro", "registry": True}
    views |= {
        "system": spec["systems"][0]["name"],
        "columns": "n BIGINT",
        "key": "user",
        "metadata": {"keyFormat": "avro", "keyColumns": "user STRING"},
    }
    spec |= {"streams": [views, {"name": "out", "system": views["system"]}], "tables": []}
    spec["operators"] = [{"name": "sent", "sendTo": {"from": "views", "stream": "out"}}]
    with schema_server() as registry:
        registry.register(7, user)
        registry.register(8, value)
        registry.subjects |= {f"{name}-key": [7], f"{name}-value": [8]}
        spec["systems"][0]["kafka"]["schemaRegistry"] = {"url": registry.url}
        source = tmp_path / "registered.yaml"
        source.write_text(yaml.safe_dump(document))
        lines = "".join(f'{{"user":"u{number}","n":{number}}}\n' for number in range(9))
        run("write", str(source), "views", "--partitions", "3", given=lines)
        read = run("read", str(source), "views", "--rows", "-o", "json").stdout.splitlines()
    records = sorted(map(json.loads, read), key=lambda record: str(record["value"]))
    assert [(each["key"], each["value"]) for each in records] == [
        (f'{{"user":"u{number}"}}', f'{{"n":{number}}}') for number in range(9)
    ]
    assert {(each["keySchemaId"], each["schemaId"]) for each in records} == {("7", "8")}
    framed = [b"\0\0\0\0\x07\x04" + f"u{number}".encode() for number in range(9)]
    places = partition_of(pa.array(framed), 3).tolist()
    assert [each["partition"] for each in records] == places
    assert len(set(places)) == 3


@pytest.mark.usefixtures("process")
def test_a_topic_grows(brokers: str, app: str, name: str) -> None:
    run("create", app, "users", "--partitions", "2")
    run("grow", app, "users", "6")
    facts = json.loads(run("list", brokers, "-o", "json").stdout)
    assert facts[f"{name}.users"]["partitions"] == 6
    assert "none can be taken" in run("grow", app, "users", "4", code=1).stderr


def test_reading_begins_where_it_is_told_to(brokers: str, name: str) -> None:
    run("write", brokers, name, "--format", "text", "--partitions", "1", given="a\nb\nc\n")
    assert run("read", brokers, name, "--from", "1").stdout == "b\nc\n"
    assert run("read", brokers, name, "--from", "latest").stdout == ""
    assert run("read", brokers, name, "--limit", "2").stdout == "a\nb\n"


def test_what_is_not_committed_is_not_shown(brokers: str, kafka: str, name: str) -> None:
    create(kafka, {name: 1})
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": name, "log_level": 0})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(name, b"open")
    producer.flush()
    assert run("read", brokers, name).stdout == ""
    producer.abort_transaction()
    run("write", brokers, name, "--format", "text", given="after\n")
    assert run("read", brokers, name).stdout == "after\n"


@pytest.mark.usefixtures("process")
def test_following_prints_what_comes(brokers: str, name: str) -> None:
    run("write", brokers, name, "--format", "text", "--partitions", "2", given="one\n")
    command = [sys.executable, "-c", PROGRAM, "read", brokers, name, "--follow"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"one\n"
        run("write", brokers, name, "--format", "text", given="two\n")
        assert process.stdout.readline() == b"two\n"
        process.kill()


def test_a_topic_that_was_misspelt_is_not_made(brokers: str, kafka: str, name: str) -> None:
    told = run("write", brokers, name, given=VIEWS, code=2).stderr
    assert f'there is no topic "{name}"; --partitions makes it' in " ".join(told.split())
    assert f'no stream named "{name}"' in run("read", brokers, name, code=1).stderr


def test_topics_that_others_delete_meanwhile_are_left_out(brokers: str, kafka: str, name: str) -> None:
    run("create", brokers, name)
    over = Event()

    def come_and_go() -> None:
        while not over.is_set():
            create(kafka, {f"{name}-seldom": 1})
            remove(kafka, [f"{name}-seldom"])

    with ThreadPoolExecutor() as others:
        going = others.submit(come_and_go)
        try:
            for _ in range(share(0.1)):
                assert name in json.loads(run("list", brokers, "-o", "json").stdout)
        finally:
            over.set()
        going.result()


@pytest.mark.usefixtures("loopback")
def test_brokers_that_are_away_end_it_with_a_code_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamapp_runtime.systems.kafka.cluster_admin.CONNECT_SECONDS", 0.2)
    broker = f"127.0.0.1:{free_port()}"
    told = run("list", f"kafka://{broker}", code=3).stderr
    assert told.removeprefix("Error: listing topics: ") == (
        f"no broker can be reached; the last try: {broker}: Connection refused\n"
    )


def test_settings_that_no_app_may_have_are_counted_and_not_named(brokers: str, tmp_path: Path) -> None:
    (tmp_path / "client").write_text("plugin.library.paths=/tmp/x.so\n")
    refusal = run("list", brokers, "--secrets", str(tmp_path / "client"), code=1).stderr
    assert f"{tmp_path / 'client'}: 1 of its keys is no client setting that an app may have" in refusal
    assert "plugin.library.paths" not in refusal
