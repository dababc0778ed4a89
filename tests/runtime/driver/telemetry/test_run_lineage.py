"""Lineage events of a run on Kafka, as a receiver gets them."""

import pytest

from streamapp.protocol.termination import ExitCode, Termination
from streamapp_runtime.driver.telemetry.run_lineage import RunLineage
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.systems.connection import KafkaConnection
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.telemetry_receiver import telemetry_receiver

WITHIN = 60.0
STREAMS = [
    {"name": "events", "key": "user", "columns": "user STRING, n INT"},
    {"name": "totals", "key": "user"},
]
OPERATORS = (
    {"name": "counted", "aggregate": {"from": "events", "aggregates": "count(*) AS rows"}},
    {"name": "sent", "sendTo": {"from": "counted", "stream": "totals"}},
)


@pytest.mark.parametrize("env", ["kafka"], indirect=True)
def test_topics_are_datasets_of_their_brokers_and_a_run_that_goes_on_by_another_model_is_running(
    env: AppEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.write("events", inputs([{"user": "u", "n": 1}], "user"), 2)
    launch = Run.start(env, app(*OPERATORS, streams=STREAMS)).loop.launch
    connection = launch.context.storage.connection
    assert isinstance(connection, KafkaConnection)
    warnings: list[str] = []
    with telemetry_receiver() as receiver:
        monkeypatch.setenv("OPENLINEAGE_URL", receiver.url)
        lineage = RunLineage(launch.app, {"OPENLINEAGE_URL": receiver.url}, warnings.append)
        lineage.launched(launch)
        lineage.changed(launch)
        lineage.ended(Termination.of(ExitCode.DONE), stopped=False, seconds=WITHIN)
    assert warnings == []
    assert [event["eventType"] for event in receiver.events] == ["START", "RUNNING", "COMPLETE"]
    namespace = f"kafka://{connection.bootstrap_servers.split(',')[0]}"
    tasks = [one.operation for one in launch.program.python_tasks]
    topics = {task.topic for task in tasks if isinstance(task, Read | Write)}
    for event in receiver.events:
        (read,), (written,) = event["inputs"], event["outputs"]
        assert (read["namespace"], written["namespace"]) == (namespace, namespace)
        assert {read["name"], written["name"]} <= topics
        assert [column["name"] for column in read["facets"]["schema"]["fields"]] == ["user", "n"]
        facets = [read["facets"]["schema"], written["facets"]["schema"], event["job"]["facets"]["jobType"]]
        assert all(facet["_producer"] == event["producer"] for facet in facets)
        assert all(facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/") for facet in facets)
