"""Lineage events of a run on Kafka, as a receiver gets them."""

from typing import Any

import pytest
from openlineage.client.facet_v2 import column_lineage_dataset
from openlineage.client.serde import Serde

from streamapp.protocol.termination import ExitCode, Termination
from streamapp_runtime.driver.telemetry.run_lineage import RunLineage
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.systems.connection import KafkaConnection
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_KAFKA
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


def as_the_specification_has_it(facet: dict[str, Any]) -> dict[str, Any]:
    """The facet, read into the client's classes, which refuse what the specification does not have."""

    def input_fields(entries: list[dict[str, Any]]) -> list[column_lineage_dataset.InputField]:
        return [
            column_lineage_dataset.InputField(
                **entry
                | {
                    "transformations": [
                        column_lineage_dataset.Transformation(**one) for one in entry["transformations"]
                    ]
                }
            )
            for entry in entries
        ]

    fields = {
        column: column_lineage_dataset.Fields(**field | {"inputFields": input_fields(field["inputFields"])})
        for column, field in facet["fields"].items()
    }
    dataset = input_fields(facet["dataset"])
    return Serde.to_dict(column_lineage_dataset.ColumnLineageDatasetFacet(fields, dataset))


@ON_KAFKA
def test_topics_are_datasets_of_their_brokers_and_a_run_that_goes_on_by_another_model_is_running(
    env: AppEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.write("events", inputs([{"user": "u", "n": 1}], "user"), 2)
    launch = Run.start(env, app(*OPERATORS, streams=STREAMS)).loop.launch
    connection = launch.context.storage.systems.of_home
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
    tasks = [one.operation for one in launch.program.tasks]
    topics = {task.topic for task in tasks if isinstance(task, Read | Write)}
    for event in receiver.events:
        (read,), (written,) = event["inputs"], event["outputs"]
        assert (read["namespace"], written["namespace"]) == (namespace, namespace)
        assert {read["name"], written["name"]} <= topics
        assert [column["name"] for column in read["facets"]["schema"]["fields"]] == ["user", "n"]
        columns = written["facets"]["columnLineage"]
        assert columns["fields"].keys() == {field["name"] for field in written["facets"]["schema"]["fields"]}
        assert columns == as_the_specification_has_it(columns)
        user = {"namespace": namespace, "name": read["name"], "field": "user"}
        same = {"type": "DIRECT", "subtype": "IDENTITY"}
        assert columns["fields"] == {
            "user": {"inputFields": [user | {"transformations": [same]}]},
            "rows": {"inputFields": []},
        }
        grouped = {"type": "INDIRECT", "subtype": "GROUP_BY"}
        assert columns["dataset"] == [user | {"transformations": [grouped]}]
        facets = [
            read["facets"]["schema"],
            written["facets"]["schema"],
            event["job"]["facets"]["jobType"],
            columns,
        ]
        assert all(facet["_producer"] == event["producer"] for facet in facets)
        assert all(facet["_schemaURL"].startswith("https://openlineage.io/spec/facets/") for facet in facets)
