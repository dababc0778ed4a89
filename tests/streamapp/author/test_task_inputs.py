from pathlib import Path

import pytest

from streamapp.author.proposal import PlanningInputs, propose
from streamapp.author.task_inputs import keeps_state, parse_broadcast_input, read_streams
from streamapp.spec.parser import parse, parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import Partition

EXAMPLES = Path(__file__).parents[3] / "examples"


def app_of(**changes: object) -> StreamApp:
    spec: dict[str, object] = {
        "systems": [{"name": "main", "embedded": {"path": "data"}}],
        "streams": [
            {"name": "views", "system": "main"},
            {"name": "rates", "system": "main"},
            {"name": "out", "system": "main"},
        ],
        "operators": [{"name": "sink", "sendTo": {"from": "views", "stream": "out"}}],
    }
    parsed = parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "a"},
            "spec": spec | changes,
        }
    )
    assert not parsed.problems
    return parsed.apps[0]


JOIN = [
    {"name": "joined", "joinTable": {"from": "views", "table": "rates-table"}},
    {"name": "sink", "sendTo": {"from": "joined", "stream": "out"}},
]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("views", ["views"]),
        ("views#3", [Partition("views", 3)]),
        ("views#[0-2]", [Partition("views", index) for index in range(3)]),
        ("views#[2-2]", [Partition("views", 2)]),
    ],
)
def test_a_broadcast_input_is_a_stream_a_partition_or_several(text: str, entries: list[object]) -> None:
    (broadcast_input,) = app_of(broadcastInputs=[text]).spec.broadcast_inputs
    assert list(parse_broadcast_input(broadcast_input)) == entries


def test_outputs_are_not_read() -> None:
    app = app_of()
    proposed = propose(app, PlanningInputs({"views": 4, "out": 2}))
    assert read_streams(proposed.graph, proposed.plan) == ("views",)


def test_a_stream_that_fills_only_a_broadcast_table_is_no_tasks_own() -> None:
    table = {"name": "rates-table", "broadcast": True, "sideInputs": [{"stream": "rates"}]}
    app = app_of(tables=[table], operators=JOIN)
    proposed = propose(app, PlanningInputs({"views": 4, "rates": 3, "out": 2}))
    assert proposed.assignment
    assert {p.stream for parts in proposed.assignment.tasks.values() for p in parts} == {"views"}


def test_a_broadcast_input_goes_to_every_task() -> None:
    app = app_of(
        broadcastInputs=["rates"],
        operators=[
            {"name": "both", "merge": {"from": ["views", "rates"]}},
            {"name": "sink", "sendTo": {"from": "both", "stream": "out"}},
        ],
    )
    proposed = propose(app, PlanningInputs({"views": 4, "rates": 2, "out": 2}))
    assert proposed.assignment
    assert proposed.assignment.broadcast == (Partition("rates", 0), Partition("rates", 1))
    assert len(proposed.assignment.tasks) == 4


@pytest.mark.parametrize(
    ("changes", "stateful"),
    [
        ({}, False),
        ({"tables": [{"name": "rates-table", "remote": {"python": "m:C"}}], "operators": JOIN}, False),
        ({"tables": [{"name": "rates-table", "sideInputs": [{"stream": "rates"}]}], "operators": JOIN}, True),
        (
            {
                "tables": [{"name": "rates-table", "broadcast": True, "sideInputs": [{"stream": "rates"}]}],
                "operators": JOIN,
            },
            False,
        ),
        ({"operators": [{"name": "n", "aggregate": {"from": "views", "aggregates": "count(*)"}}]}, True),
        ({"operators": [{"name": "j", "join": {"from": ["views", "rates"], "within": "5m"}}]}, True),
    ],
)
def test_what_counts_as_state(changes: dict[str, object], stateful: bool) -> None:
    app = app_of(**changes)
    proposed = propose(app, PlanningInputs({"views": 4, "rates": 4, "out": 2}))
    assert keeps_state(app, proposed.graph) is stateful


def test_a_stateless_app_regroups_freely_when_a_stream_grows() -> None:
    app = app_of()
    first = propose(app, PlanningInputs({"views": 4}))
    assert first.assignment
    grown = propose(app, PlanningInputs({"views": 6}, layout=first.assignment.layout))
    assert grown.assignment
    assert len(grown.assignment.tasks) == 6


def test_the_plan_after_a_growth_uses_the_counts_of_first_state() -> None:
    app = parse((EXAMPLES / "page-views" / "app.yaml").read_text()).apps[0]
    first = propose(app, PlanningInputs({"views": 8, "users": 8, "enriched": 8}))
    assert first.assignment
    grown = propose(
        app, PlanningInputs({"views": 8, "users": 16, "enriched": 8}, layout=first.assignment.layout)
    )
    assert not grown.plan.errors
    assert grown.plan.streams["users"].partitions == 8
    assert grown.assignment
    assert grown.assignment.tasks["Partition 3"][1:3] == (Partition("users", 3), Partition("users", 11))
