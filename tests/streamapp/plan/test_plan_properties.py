"""Random apps against the slow planner, and what must hold of any plan."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import assume, event, given
from hypothesis import strategies as st

from streamapp.graph.nodes import Graph
from streamapp.plan.count_reason import CountSource
from streamapp.plan.partition_plan import PlanError, PlanOutcome
from streamapp.plan.planner import plan
from streamapp.spec.resource.config_keys import PARTITIONS
from streamapp.spec.resource.operator_kinds import OperatorKind
from tests.harness.graphs.random_apps import apps
from tests.harness.oracles import slow_planner

CONFIG = {PARTITIONS: "7"}


def known_and_unknown(graph: Graph) -> tuple[dict[str, int], list[str]]:
    asked = {
        operator.stream: operator.partitions
        for operator in graph.operators.values()
        if operator.stream and operator.partitions
    }
    known = {name: stream.partitions for name, stream in graph.streams.items() if stream.partitions} | asked
    made = {
        operator.stream for operator in graph.operators.values() if operator.kind is OperatorKind.PARTITION_BY
    }
    return known, sorted(name for name in made if name and name not in known)


@given(apps())
def test_every_join_s_group_is_what_a_walk_from_each_stream_finds(graph: Graph) -> None:
    found = {joined.operator: frozenset(joined.streams) for joined in plan(graph).joins}
    assert found == slow_planner.groups(graph)


@given(apps())
def test_a_plan_is_accepted_exactly_when_some_counts_meet_every_group(graph: Graph) -> None:
    met = slow_planner.solutions(slow_planner.groups(graph), *known_and_unknown(graph))
    outcome = plan(graph).outcome
    event(outcome)
    assert outcome is (PlanOutcome.ACCEPTED if met else PlanOutcome.REJECTED)


@given(apps())
def test_a_count_is_imposed_when_no_other_would_do_and_else_the_configured_one_is_taken(graph: Graph) -> None:
    known, unknown = known_and_unknown(graph)
    met = slow_planner.solutions(slow_planner.groups(graph), known, unknown)
    assume(met)
    for name in unknown:
        possible = {counts[name] for counts in met}
        expected = possible.pop() if len(possible) == 1 else 7
        assert plan(graph, config=CONFIG).streams[name].partitions == expected


@given(apps())
def test_all_streams_of_a_group_agree_in_an_accepted_plan(graph: Graph) -> None:
    found = plan(graph)
    assume(found.outcome is PlanOutcome.ACCEPTED)
    for joined in found.joins:
        counts = {found.streams[name].partitions for name in joined.streams}
        assert counts == ({joined.partitions} if joined.streams else set())


@given(apps())
def test_joins_that_do_not_fail_can_be_met_together_and_none_that_fails_could_be_added(graph: Graph) -> None:
    known, unknown = known_and_unknown(graph)
    groups = slow_planner.groups(graph)
    failing = {error.operator for error in plan(graph).errors}
    met = {join: group for join, group in groups.items() if join not in failing}
    assert slow_planner.solutions(met, known, unknown)
    for join in failing:
        assert join is not None
        assert not slow_planner.solutions(met | {join: groups[join]}, known, unknown)


@given(apps(), st.data())
def test_the_order_of_declaration_changes_nothing(graph: Graph, data: st.DataObject) -> None:
    operators = {
        name: replace(
            graph.operators[name],
            inputs=tuple(data.draw(st.permutations(graph.operators[name].inputs))),
            tables=tuple(reversed(graph.operators[name].tables)),
        )
        for name in data.draw(st.permutations(list(graph.operators)))
    }
    streams = {name: graph.streams[name] for name in data.draw(st.permutations(list(graph.streams)))}
    tables = {
        name: replace(graph.tables[name], side_inputs=graph.tables[name].side_inputs[::-1])
        for name in data.draw(st.permutations(list(graph.tables)))
    }
    shuffled = plan(Graph(operators, streams, tables))
    assert shuffled == plan(graph)
    assert list(shuffled.streams) == list(plan(graph).streams)


@given(apps())
def test_without_a_failing_join_exactly_its_error_is_gone(graph: Graph) -> None:
    errors = plan(graph, config=CONFIG).errors
    for error in errors:
        after = {name for name, other in graph.operators.items() if error.operator in other.inputs}
        assert error.operator is not None
        if graph.operators[error.operator].kind is OperatorKind.PROCESS:
            continue  # it writes to its table, so more hangs on it than what reads it
        if any(graph.operators[name].kind is not OperatorKind.SEND_TO for name in after):
            continue
        rest = {
            name: other for name, other in graph.operators.items() if name not in {error.operator, *after}
        }
        remaining_errors = plan(replace(graph, operators=rest), config=CONFIG).errors
        assert _findings(remaining_errors) == _findings(other for other in errors if other is not error)


def _findings(errors: Iterable[PlanError]) -> list[PlanError]:
    """Errors without their hints: what mends one join depends on which others fail."""
    return [replace(error, hint="", hints=()) for error in errors]


@given(apps())
def test_an_imposed_count_can_be_followed_from_join_to_join_to_a_stream_that_had_it(graph: Graph) -> None:
    found = plan(graph)
    members = {joined.operator: joined.streams for joined in found.joins}
    for start in found.streams.values():
        stream, seen = start, {start.name}
        while stream.because.kind is CountSource.IMPOSED:
            assert stream.because.operator is not None
            assert stream.because.stream is not None
            assert {stream.name, stream.because.stream} <= set(members[stream.because.operator])
            assert stream.because.stream not in seen
            seen.add(stream.because.stream)
            stream = found.streams[stream.because.stream]
        assert stream.partitions == start.partitions
        if start.because.kind is CountSource.IMPOSED:
            assert stream.name == start.because.origin
