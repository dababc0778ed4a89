"""What a refused plan says would mend it, followed: on random graphs, and in resources as a user does it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from streamapp.author.proposal import PlanningInputs, propose
from streamapp.graph.nodes import Graph, StreamNode, TableNode
from streamapp.plan.partition_plan import Plan, PlanError, PlanOutcome
from streamapp.plan.planner import plan
from streamapp.spec.parser import parse
from streamapp.spec.reasons import Reason
from tests.harness.graphs.graph_drawing import (
    broadcast,
    drawn,
    fill,
    join,
    join_table,
    merge,
    process,
    reads,
    repartition,
)
from tests.harness.graphs.random_apps import apps
from tests.harness.graphs.resource_changes import followed


@given(apps())
def test_a_hint_that_is_followed_leaves_fewer_joins_failing_and_mends_its_own(graph: Graph) -> None:
    refused = plan(graph)
    failing = {error.operator for error in refused.errors}
    for error in refused.errors:
        assert error.hints, error.message
        for hint in error.hints:
            after = {other.operator for other in plan(hint.applied(graph)).errors}
            event("accepted" if not after else "fewer failing joins")
            assert after < failing
            assert error.operator not in after


@given(apps())
def test_whoever_follows_one_hint_after_the_other_ends_with_an_app_that_is_accepted(graph: Graph) -> None:
    refused = plan(graph)
    joins = len(refused.errors)
    for _ in range(joins):
        if refused.errors:
            graph = refused.errors[0].hints[0].applied(graph)
            refused = plan(graph)
    assert refused.outcome is PlanOutcome.ACCEPTED


@given(apps(), st.data())
def test_a_hint_about_partitions_that_were_asked_for_takes_its_error_away(
    graph: Graph, data: st.DataObject
) -> None:
    asked = st.sampled_from([None, -1, 0, 2, 3])
    operators = {
        name: replace(operator, partitions=data.draw(asked)) if operator.cuts else operator
        for name, operator in graph.operators.items()
    }
    made = sorted({operator.stream for operator in operators.values() if operator.cuts and operator.stream})
    existing = {name: StreamNode(name, partitions=2) for name in made if data.draw(st.booleans())}
    graph = Graph(operators, {**graph.streams, **existing}, graph.tables)
    errors = _of_requests(plan(graph))
    for error in errors:
        assert error.hints
        for hint in error.hints:
            after = _of_requests(plan(hint.applied(graph)))
            assert len(after) < len(errors)
            assert error.message not in {other.message for other in after}


def _of_requests(found: Plan) -> list[PlanError]:
    return [error for error in found.errors if error.reason is Reason.INVALID_CONFIG]


def _meeting() -> Graph:
    """`p` and `q` meet through a table, and what comes of it meets a stream of sixteen partitions."""
    return drawn(
        reads("a"),
        reads("b"),
        reads("wide"),
        repartition("p", "a"),
        repartition("q", "b"),
        join("known", "a", "p"),
        fill("keep", "q", "last"),
        join_table("looked-up", "p", "last"),
        join("whole", "looked-up", "wide"),
        counts={"wide": 16},
        tables=(TableNode("last"),),
    )


def test_streams_that_meet_through_a_table_and_another_join_are_mended_by_one_change() -> None:
    (error,) = plan(_meeting()).errors
    assert error.message == (
        "join whole needs streams of one partition count, but p' (imposed by known, where it meets a), "
        "q' (imposed by looked-up, where it meets p', whose count comes from a) have 8; wide has 16"
    )
    assert error.hint == "repartition the rows of looked-up with partitionBy before whole"
    (hint,) = error.hints
    assert plan(hint.applied(_meeting())).outcome is PlanOutcome.ACCEPTED


def test_a_stream_is_repartitioned_where_it_fills_the_table_and_not_behind_the_join() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        fill("keep", "b", "last"),
        join_table("j1", "a", "last"),
        join("j2", "j1", "c"),
        counts={"b": 6},
        tables=(TableNode("last"),),
    )
    hints = {error.operator: error.hint for error in plan(graph).errors}
    mend = "repartition b with partitionBy before keep; or give b 8 partitions"
    assert hints == {"j1": mend, "j2": mend}


def test_joins_that_one_change_cannot_mend_are_mended_by_several() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        merge("m", "a", "b"),
        process("one", "m", "t"),
        process("two", "c", "t"),
        counts={"a": 2, "b": 3, "c": 5},
        tables=(TableNode("t"),),
    )
    for error in plan(graph).errors:
        for hint in error.hints:
            assert plan(hint.applied(graph)).outcome is PlanOutcome.ACCEPTED


def test_rows_of_a_broadcast_are_not_to_be_repartitioned_for_every_task_has_them() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("rates"),
        broadcast("all", "rates"),
        merge("m", "b", "all"),
        join("j", "a", "m"),
        counts={"b": 6},
    )
    (error,) = plan(graph).errors
    assert error.hint == "repartition b with partitionBy before m; or give b 8 partitions"


def test_a_large_app_is_planned_without_a_trial_for_each_of_its_joins() -> None:
    wrong = [
        operator
        for number in range(2_000)
        for operator in (
            reads(f"a{number}"),
            reads(f"b{number}"),
            join(f"j{number:04}", f"a{number}", f"b{number}"),
        )
    ]
    errors = plan(drawn(*wrong, counts={f"b{number}": 6 for number in range(2_000)})).errors
    assert len(errors) == 2_000
    assert errors[0].hint == "repartition b0 with partitionBy before j0000; or give b0 8 partitions"
    assert errors[-1].hint == "fix j0000 first, and plan again"


MEETING: dict[str, Any] = {
    "streams": ["a", "b", "wide", "out"],
    "tables": [{"name": "last"}],
    "operators": [
        {"name": "p", "partitionBy": {"from": "a", "key": "k"}},
        {"name": "q", "partitionBy": {"from": "b", "key": "k"}},
        {"name": "known", "join": {"from": ["a", "p"], "within": "1h"}},
        {"name": "keep", "sendToTable": {"from": "q", "table": "last"}},
        {"name": "looked-up", "joinTable": {"from": "p", "table": "last"}},
        {"name": "whole", "join": {"from": ["looked-up", "wide"], "within": "1h"}},
        {"name": "end", "sendTo": {"from": "whole", "stream": "out"}},
        {"name": "end-known", "sendTo": {"from": "known", "stream": "out"}},
    ],
}
SIDES: dict[str, Any] = {
    "streams": ["a", "b", "users", "out"],
    "tables": [{"name": "users", "sideInputs": [{"stream": "users"}]}],
    "operators": [
        {"name": "asked", "partitionBy": {"from": "a", "key": "k", "partitions": 4}},
        {"name": "both", "merge": {"from": ["asked", "b"]}},
        {"name": "joined", "joinTable": {"from": "both", "table": "users"}},
        {"name": "counted", "aggregate": {"from": "joined", "aggregates": "count(*) AS n"}},
        {"name": "end", "sendTo": {"from": "counted", "stream": "out"}},
    ],
}


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        (MEETING, {"a": 8, "b": 8, "wide": 16}),
        (MEETING, {"a": 8, "b": 6, "wide": 4}),
        (SIDES, {"a": 8, "b": 6, "users": 6}),
        (SIDES, {"a": 8, "b": 4, "users": 6}),
        (SIDES, {"a": 8, "b": 8, "users": 8}),
    ],
)
def test_a_user_who_edits_the_resource_as_a_hint_says_has_fewer_failing_joins(
    spec: dict[str, Any], counts: dict[str, int]
) -> None:
    streams = [{"name": name, "system": "main", "key": "k"} for name in spec["streams"]]
    systems = [{"name": "main", "kafka": {"bootstrapServers": "kafka:9092"}}]
    head = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "app"}}
    resource = {**head, "spec": {**spec, "systems": systems, "streams": streams}}
    failing = {error.operator: error for error in _errors(resource, counts)}
    assert failing
    for error in failing.values():
        assert error.hints
        for hint in error.hints:
            after = {other.operator for other in _errors(*followed(hint, resource, counts))}
            assert after < failing.keys()
            assert error.operator not in after


def _errors(resource: dict[str, Any], counts: dict[str, int]) -> tuple[PlanError, ...]:
    parsed = parse(json.dumps(resource))
    assert parsed.problems == ()
    return propose(parsed.apps[0], PlanningInputs(counts)).plan.errors
