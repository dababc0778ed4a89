"""`--live`: counts and the layout come from the systems themselves, and are asked for without a trace."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from streamapp.cli.main import root
from streamapp.spec.parser import parse
from streamapp.tasks.layouts.layout_codec import decode_layout
from streamapp_runtime.checkpoint_entries import INCARNATION, LAYOUT, CheckpointEntry
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.start.live_inputs import counts_of
from streamapp_runtime.systems.connection import Connection, EmbeddedConnection, KafkaConnection, open_system
from streamapp_runtime.systems.stream_system import StreamOptions
from tests.harness.engine.one_system import OneSystem
from tests.harness.kafka.broker import free_port
from tests.harness.kafka.secured_broker import PASSWORD, guarded, secrets
from tests.harness.runs.page_views_run import app as page_views

There = tuple[dict[str, Any], Connection, str]
"""An app, its system, and the name that its topics begin with."""


@pytest.fixture(params=["embedded", "kafka"])
def there(request: pytest.FixtureRequest, tmp_path: Path) -> There:
    """An app on a system of either kind."""
    name = f"live-{tmp_path.name}"
    if request.param == "kafka":
        address = request.getfixturevalue("kafka")
        return page_views(address, name), KafkaConnection(address), name
    app = page_views("", name)
    app["spec"]["systems"] = [{"name": "main", "embedded": {"path": str(tmp_path / "data")}}]
    return app, EmbeddedConnection(str(tmp_path / "data")), name


def ask(folder: Path, app: dict[str, Any], verb: str, *options: str, code: int = 0) -> Result:
    file = folder / "app.yaml"
    file.write_text(yaml.safe_dump(app))
    result = CliRunner().invoke(root, [verb, str(file), *options])
    assert result.exit_code == code, result.output
    return result


def counts(answer: Result) -> dict[str, int]:
    streams = json.loads(answer.stdout)["streams"]
    return {name: stream["partitions"] for name, stream in streams.items()}


def make(connection: Connection, name: str, **streams: int) -> None:
    with closing(open_system(connection)) as system:
        for stream, count in streams.items():
            system.create(f"{name}.{stream}", count)


@pytest.mark.usefixtures("process")
def test_a_plan_takes_the_counts_that_topics_have(there: There, tmp_path: Path) -> None:
    app, connection, name = there
    make(connection, name, views=3, users=4, enriched=5)
    found = counts(ask(tmp_path, app, "plan", "--live", "-o", "json"))
    assert found == {"views": 3, "users": 4, "enriched": 5, f"{name}.app.by-user": 4}


@pytest.mark.usefixtures("process")
def test_what_is_said_by_hand_goes_before_what_is_there(there: There, tmp_path: Path) -> None:
    app, connection, name = there
    make(connection, name, views=3, users=4, enriched=5)
    assert counts(ask(tmp_path, app, "plan", "--live", "--set", "users=8", "-o", "json"))["users"] == 8


@pytest.mark.usefixtures("process")
def test_a_topic_that_is_not_there_rejects_the_plan_as_the_run_would(there: There, tmp_path: Path) -> None:
    app, connection, name = there
    make(connection, name, users=4)
    answer = ask(tmp_path, app, "plan", "--live", code=1)
    assert "MissingStream" in answer.output
    assert " does not exist " in " ".join(answer.output.split())


@pytest.mark.usefixtures("process")
@pytest.mark.usefixtures("loopback")
def test_an_app_that_has_run_is_planned_with_the_layout_that_lies_with_its_state(
    there: There, tmp_path: Path
) -> None:
    app, connection, name = there
    make(connection, name, views=4, users=4, enriched=4)
    (parsed,) = parse(yaml.safe_dump(app)).apps
    before = json.loads(ask(tmp_path, app, "tasks", "--live", "-o", "json").stdout)
    with closing(open_system(connection)) as system:
        ledger = CheckpointStream(system, f"{parsed.application_id}.checkpoint")
        ledger.open("run-1")
        ledger.remember(decode_layout(json.dumps(before["layout"])))
        system.grow(f"{name}.users", 8)
        system.grow(f"{name}.views", 8)
        assert counts_of(parsed, OneSystem(system, parsed))["users"] == 8
    answer = ask(tmp_path, app, "tasks", "--live")
    assert "users grew from 4 to 8 partitions" in answer.output
    assert "4 tasks" in answer.output
    assert counts(ask(tmp_path, app, "plan", "--live", "-o", "json"))["users"] == 4


@pytest.mark.usefixtures("process")
@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("entry", [LAYOUT, INCARNATION], ids=lambda entry: entry.form.name)
def test_state_that_cannot_be_read_is_refused_in_one_sentence(
    there: There, tmp_path: Path, entry: CheckpointEntry
) -> None:
    app, connection, name = there
    make(connection, name, views=4, users=4, enriched=4)
    (parsed,) = parse(yaml.safe_dump(app)).apps
    stream = f"{parsed.application_id}.checkpoint"
    with closing(open_system(connection)) as system:
        system.create(stream, 1, StreamOptions(compacted=True))
        transaction = system.begin(stream, 1)
        transaction.put(stream, entry.key, b"torn")
        transaction.commit()
    (line,) = ask(tmp_path, app, "plan", "--live", code=1).stderr.splitlines()
    assert f"{stream}, partition 0" in line
    assert "resetNonce" in line


@pytest.mark.usefixtures("process")
def test_asking_leaves_nothing_behind(tmp_path: Path) -> None:
    app = page_views("", "nothing")
    app["spec"]["systems"] = [{"name": "main", "embedded": {"path": str(tmp_path / "data")}}]
    assert "MissingStream" in ask(tmp_path, app, "plan", "--live", code=1).output
    assert not (tmp_path / "data").exists()


@pytest.mark.usefixtures("process")
def test_a_broker_that_is_away_is_told_and_ends_with_a_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamapp_runtime.systems.kafka.topics.ANSWER_SECONDS", 1.0)
    app = page_views(f"127.0.0.1:{free_port()}", "away")
    answer = ask(tmp_path, app, "place", "--live", code=3)
    # Workers of a Spark that earlier tests of this process have used may write here as they end.
    (error,) = [line for line in answer.stderr.splitlines() if line.startswith("Error: ")]
    assert error.startswith('Error: the system "main" cannot be asked: ')
    assert answer.stderr.endswith(f"{error}\n")


def test_a_guarded_cluster_is_asked_with_what_the_secret_says(kafka_jars: Path, tmp_path: Path) -> None:
    broker, address, cert = guarded(tmp_path / "fortress")
    broker.start()
    try:
        make(KafkaConnection(broker.bootstrap), "kept", views=3, users=4)
        app = page_views(address, "kept", configSecret={"name": "kafka-client"})
        entries = secrets(tmp_path / "secrets", cert)
        found = ask(tmp_path, app, "plan", "--live", "--secrets", str(entries), "-o", "json")
        assert (counts(found)["users"], PASSWORD in found.output) == (4, False)
    finally:
        broker.stop()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("options", "told"),
    [(["--data", "x"], "they go with --live"), (["--live", "--cluster"], "leave --live out")],
)
def test_options_that_do_not_go_together_are_named(tmp_path: Path, options: list[str], told: str) -> None:
    answer = ask(tmp_path, page_views("127.0.0.1:1", "any"), "plan", *options, code=2)
    assert told in " ".join(answer.stderr.split())
