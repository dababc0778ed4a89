"""On which streams' keys an app relies, and where the keys of a stream belong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.author.key_reliance import key_placements, key_reliance, side_input_reliance
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import PlanningInputs, propose
from streamapp.graph.graph_builder import build_graph
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouper import SINGLE_TASK, Grouper
from streamapp.tasks.key_placement import NO_TASK, KeyPlacement, KeyReliance
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed, owner

SENT = {"name": "sent", "sendTo": {"from": "made", "stream": "out"}}
PROCESS = {"from": "views", "python": "shop:Kept", "columns": "user STRING"}
BY_PYTHON = {"stream": "users", "python": "shop:rows"}


def app_of(operator: dict[str, Any], *more: dict[str, Any], **stream: Any) -> StreamApp:
    columns = "user STRING, page STRING"
    parsed = parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "a"},
            "spec": {
                "systems": [{"name": "main", "embedded": {"path": "data"}}],
                "streams": [
                    {"name": "views", "system": "main", "columns": columns, "key": "user"} | stream,
                    {"name": "users", "system": "main", "columns": columns, "key": "user"},
                    {"name": "out", "system": "main"},
                ],
                "tables": [
                    {"name": "local", "sideInputs": [{"stream": "users"}]},
                    {"name": "whole", "broadcast": True, "sideInputs": [{"stream": "users"}]},
                    {"name": "made-of", "sideInputs": [BY_PYTHON], "columns": "n INT"},
                    {"name": "filled", "columns": columns},
                    {"name": "named", "broadcast": True, "sideInputs": [{"stream": "users", "key": "page"}]},
                ],
                "operators": [*more, {"name": "made"} | operator, SENT],
            },
        }
    )  # fmt: skip
    assert not parsed.problems, [str(problem) for problem in parsed.problems]
    return parsed.apps[0]


APP = app_of({"filter": {"from": "views", "where": "page > ''"}})


def reliance_on_views(app: StreamApp) -> KeyReliance:
    return key_reliance(app, build_graph(app, {}))["views"]


@pytest.mark.parametrize(
    ("operator", "reliance"),
    [
        ({"join": {"from": ["views", "users"], "within": "1m"}}, KeyReliance.PLACE),
        ({"joinTable": {"from": "views", "table": "local"}}, KeyReliance.PLACE),
        ({"joinTable": {"from": "views", "table": "local", "key": "user"}}, KeyReliance.PLACE),
        ({"joinTable": {"from": "views", "table": "whole"}}, KeyReliance.VALUE),
        ({"joinTable": {"from": "views", "table": "whole", "key": "page"}}, KeyReliance.NONE),
        ({"aggregate": {"from": "views", "aggregates": "count(*) AS n"}}, KeyReliance.PLACE),
        ({"process": PROCESS}, KeyReliance.PLACE),
        ({"filter": {"from": "views", "where": "page IS NOT NULL"}}, KeyReliance.NONE),
        ({"partitionBy": {"from": "views", "key": "page"}}, KeyReliance.NONE),
    ],
)
def test_what_an_operator_relies_on_follows_from_what_it_does(
    operator: dict[str, Any], reliance: KeyReliance
) -> None:
    assert reliance_on_views(app_of(operator)) is reliance


def test_a_table_that_the_app_fills_relies_on_the_place_even_where_nobody_reads_it() -> None:
    filling = {"name": "filling", "sendToTable": {"from": "made", "table": "filled"}}
    app = app_of({"filter": {"from": "views", "where": "page > ''"}}, filling)
    assert reliance_on_views(app) is KeyReliance.PLACE


def test_it_is_relied_on_through_operators_on_single_rows_and_not_through_a_repartition() -> None:
    counted = {"aggregate": {"from": "before", "aggregates": "count(*) AS n"}}
    kept = {"name": "before", "filter": {"from": "views", "where": "page > ''"}}
    moved = {"name": "before", "partitionBy": {"from": "views", "key": "page"}}
    assert reliance_on_views(app_of(counted, kept)) is KeyReliance.PLACE
    assert reliance_on_views(app_of(counted, moved)) is KeyReliance.NONE


def test_a_stream_whose_keys_are_unchecked_is_relied_on_by_nothing() -> None:
    counted = {"aggregate": {"from": "views", "aggregates": "count(*) AS n"}}
    app = app_of(counted, keys="unchecked")
    assert reliance_on_views(app) is KeyReliance.NONE
    (views, _, _), (table, *_) = app.spec.streams, app.spec.tables
    assert side_input_reliance(views, table, table.side_inputs[0]) is KeyReliance.NONE


def test_without_a_declared_key_only_what_groups_keys_relies_on_the_records_own() -> None:
    assert reliance_on_views(app_of({"process": PROCESS}, key=None)) is KeyReliance.NONE
    joined = {"join": {"from": ["views", "users"], "within": "1m"}}
    assert reliance_on_views(app_of(joined, key=None)) is KeyReliance.PLACE


def test_a_table_relies_on_the_place_of_what_fills_it_unless_it_is_whole_or_python_gives_the_keys() -> None:
    app = app_of({"filter": {"from": "views", "where": "page > ''"}})
    users = app.spec.streams[1]
    found = {
        table.name: side_input_reliance(users, table, side)
        for table in app.spec.tables
        for side in table.side_inputs
    }
    assert found == {
        "local": KeyReliance.PLACE,
        "whole": KeyReliance.VALUE,
        "made-of": KeyReliance.NONE,
        "named": KeyReliance.NONE,
    }


@given(
    initial=st.integers(2, 6),
    growths=st.lists(st.integers(2, 3), max_size=3),
    keys=st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=30),
)
def test_a_key_is_at_home_in_every_partition_that_held_it_and_in_no_other_task(
    initial: int, growths: list[int], keys: list[int]
) -> None:
    """Beside an observer that follows each hash through the growths and asks who owns the partition."""
    counts = [initial]
    assignment = formed({"views": initial})
    for factor in growths:
        counts.append(counts[-1] * factor)
        assignment = formed({"views": counts[-1]}, assignment)
    placement = key_placements(APP, assignment)["views"]
    for key in keys:
        initial_index = key % placement.count
        for count in counts:
            assert placement.tasks[placement.initial_index(key % count)] == placement.tasks[initial_index]
        for index in range(counts[-1]):
            same = owner(assignment, "views", index) == owner(assignment, "views", key % counts[-1])
            assert (placement.tasks[placement.initial_index(index)] == placement.tasks[initial_index]) == same


def test_where_one_task_has_all_partitions_no_key_can_be_elsewhere() -> None:
    assert key_placements(APP, formed({"views": 4}, grouper=SINGLE_TASK)) == {}
    assert key_placements(APP, formed({"views": 1})) == {}


def test_partitions_that_share_a_task_are_as_one() -> None:
    grouper = Grouper("shop:halves", lambda _, parts: {
        "even": [part for part in parts if part.index % 2 == 0],
        "odd": [part for part in parts if part.index % 2],
    })  # fmt: skip
    assert key_placements(APP, formed({"views": 4}, grouper=grouper)) == {
        "views": KeyPlacement(4, tasks=(0, 1, 0, 1))
    }


def test_a_partition_that_every_task_reads_belongs_to_none() -> None:
    assignment = formed({"views": 3}, broadcast=[Partition("views", 1)])
    assert key_placements(APP, assignment) == {"views": KeyPlacement(3, tasks=(0, NO_TASK, 1))}


def test_a_stream_without_state_counts_as_it_is_until_it_grows() -> None:
    before = formed({"views": 2}, stateful=False)
    assert key_placements(APP, before) == {"views": KeyPlacement(2, tasks=(0, 1))}
    assert key_placements(APP, formed({"views": 4}, before, stateful=False)) == {}


def test_keys_are_placed_by_the_hash_that_the_stream_declares() -> None:
    app = app_of({"aggregate": {"from": "views", "aggregates": "count(*) AS n"}}, partitioner="crc32")
    assert key_placements(app, formed({"views": 2, "other": 2})) == {
        "views": KeyPlacement(2, tasks=(0, 1), partitioner="crc32"),
        "other": KeyPlacement(2, tasks=(0, 1), partitioner="murmur2"),
    }


JOIN = {"join": {"from": ["views", "users"], "within": "1m"}}
LOOK_UP = {"joinTable": {"from": "views", "table": "local"}}
COUNT = {"aggregate": {"from": "views", "aggregates": "count(*) AS n"}}
JOIN_AGAIN = {"join": {"from": ["again", "users"], "within": "1m"}}
AGAIN = {"name": "again", "partitionBy": {"from": "views", "key": "user"}}


@pytest.mark.parametrize(
    ("operator", "more", "stream", "counts", "is_refused"),
    [
        (JOIN, (), {"partitioner": "crc32"}, 4, True),
        (LOOK_UP, (), {"partitioner": "crc32"}, 4, True),
        (JOIN, (), {}, 4, False),
        (JOIN, (), {"partitioner": "crc32"}, 1, False),
        (JOIN, (), {"partitioner": "crc32", "keys": "unchecked"}, 4, False),
        ({"joinTable": {"from": "views", "table": "whole"}}, (), {"partitioner": "crc32"}, 4, False),
        (COUNT, (), {"partitioner": "crc32"}, 4, False),
        (JOIN_AGAIN, (AGAIN,), {"partitioner": "crc32"}, 4, False),
    ],
)  # fmt: skip
def test_streams_that_meet_have_to_have_one_hash_of_keys(
    operator: dict[str, Any],
    more: tuple[dict[str, Any], ...],
    stream: dict[str, Any],
    counts: int,
    is_refused: bool,
) -> None:
    app = app_of(operator, *more, **stream)
    proposal = propose(app, PlanningInputs({"views": counts, "users": counts, "out": counts}))
    problems = [one for one in proposal_problems(app, proposal) if "different hashes" in one.message]
    assert bool(problems) is is_refused
    for problem in problems:
        assert problem.path == f"spec.operators[0].{next(iter(operator))}"
        assert "users by murmur2" in problem.message
        assert "views by crc32" in problem.message
        assert "put a partitionBy between views and made" in problem.message


def test_a_table_of_keys_by_another_hash_has_to_be_broadcast() -> None:
    app = app_of(LOOK_UP)
    users = app.spec.stream("users").model_copy(update={"partitioner": "crc32"})
    streams = [users if stream.name == "users" else stream for stream in app.spec.streams]
    app = app.model_copy(update={"spec": app.spec.model_copy(update={"streams": streams})})
    proposal = propose(app, PlanningInputs({"views": 4, "users": 4, "out": 4}))
    (problem,) = [one for one in proposal_problems(app, proposal) if "different hashes" in one.message]
    assert problem.message.endswith("; make the table that users fills broadcast")
