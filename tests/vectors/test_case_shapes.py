"""Every shape of a case is judged by the product, and no field of a case is passed over."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.vectors.case import Case, cases
from tests.vectors.judging import Weight, differences_of, runner_of, weight

UNKNOWN = "unheard-of"
TWO_JOINS = (
    "join(map(input1),filter(input2)) -> partitionBy p2; "
    "partitionBy p1(filter(input3)) -> map -> join with filter(input2)"
)
NO_LOCALITY = "result must equal the result with empty task_locality"
LEFT_LOCALITY = "updated by step 1 (last location where each task ran)"
NAMED = {
    *("config", "streams", "tables", "join_groups", "before_inference"),
    *("task_locality", "processor_locality", "previous", "previous_changelog", "algorithm_table"),
    *("producer_counts", "stream_to_tasks", "intermediate_to_inputs", "tasks", "downstream_tasks"),
    *("newest_at_start", "last_processed", "store_before"),
}
"""Mappings whose fields are names that a case gives: another name in them is no field that is not known."""
SIX = [f"t{number}" for number in range(6)]
GROWTH = [
    {"streams": {"s.v": 2}, "expect": {"outcome": "ok"}},
    {
        "streams": {"s.v": 4},
        "expect": {"outcome": "ok", "tasks": {"P0": ["s.v#0", "s.v#3"], "P1": ["s.v#1", "s.v#2"]}},
    },
]

SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "rows that were written without their position": (
        "adjunct",
        {"kind": "recovery", "input": {"flushed_to": 20, "file": 9}, "expect": {"start": 10}},
    ),
    "a store that cannot be read": (
        "adjunct",
        {
            "kind": "validity",
            "input": {"offset_file": "bad checksum"},
            "expect": {"valid": False, "container": "starts"},
        },
    ),
    "a partition that the system does not know": (
        "adjunct",
        {"kind": "starting_offset", "input": {"oldest": None}, "expect": {"start": None}},
    ),
    "a position before the oldest record": (
        "adjunct",
        {
            "kind": "starting_offset",
            "input": {"file": 3, "oldest": 50},
            "expect": {"start": 50, "store_action": "recreate"},
        },
    ),
    "gates that need not wait": (
        "adjunct",
        {
            "kind": "gate",
            "input": {"cases": [{"upcoming": 5, "start": 5}, {"upcoming": 5, "start": 4}]},
            "expect": {"open_immediately": [True, False]},
        },
    ),
    "a side input that nothing waits for": (
        "adjunct",
        {"kind": "gate", "input": {"bootstrap": False}, "expect": {"main_input_waits": False}},
    ),
    "a store in memory": (
        "adjunct",
        {
            "kind": "offset_file",
            "input": {"store_persistent": False},
            "expect": {"directory_exists": False},
        },
    ),
    "another writer of a broadcast table": (
        "adjunct",
        {
            "kind": "broadcast",
            "input": {"event": "writer task reassigned"},
            "expect": {"new_writer": True, "start_offset": "last + 1", "store_kept": True},
        },
    ),
    "processors that are counted": (
        "affinity",
        {"tasks": SIX, "container_count": 3, "expect": {"loads_sorted": [2, 2, 2], "max_load": 2}},
    ),
    "processors in an order": (
        "affinity",
        {
            "tasks": SIX,
            "processor_locality": {"a": "l1", "b": None},
            "processor_order": ["b", "a"],
            "expect": {
                "loads": {"a": 3, "b": 3},
                "note": NO_LOCALITY,
            },
        },
    ),
    "a processor that is there twice": (
        "affinity",
        {
            "tasks": SIX,
            "processors": ["a", "b", "a"],
            "expect": {"outcome": "rejected", "message_must_name": ["a"]},
        },
    ),
    "locality that the step before left": (
        "affinity",
        {
            "tasks": SIX,
            "processor_locality": {"a": "l1", "b": "l2"},
            "expect": {"loads": {"a": 3, "b": 3}},
            "steps": [
                {
                    "task_locality": LEFT_LOCALITY,
                    "expect": {"max_location_moves": 0, "max_processor_moves": 0},
                }
            ],
        },
    ),
    "an end that was heard and not told before a crash": (
        "control",
        {
            "kind": "checkpoint",
            "input": {"ssps": ["int#0"], "producer_counts": {"int": 1}},
            "events": [
                {"type": "end_of_stream", "ssp": "int#0", "task": "a"},
                {"type": "checkpoint", "note": "before the task's end-of-stream callback ran"},
                {"type": "crash_and_restore", "expect": {"callback_runs": 1, "task_shuts_down": True}},
            ],
        },
    ),
    "partitions within bounds": (
        "control",
        {
            "kind": "sender",
            "input": {"streams": ["a", "polygenelubricants"], "partitions": 3},
            "expect": {"invariant": "0 <= partition < 3"},
        },
    ),
    "messages of all upstream tasks": (
        "control",
        {
            "kind": "sender",
            "input": {"upstream_tasks": 5, "partitions": 3},
            "expect": {"messages": 15, "per_partition": 5, "aggregate_design_messages": 8},
        },
    ),
    "fields of a message": (
        "control",
        {
            "kind": "serde",
            "input": {"type": "watermark", "timestamp": 7, "task": "a", "task_count": 2},
            "expect": {
                "fields": ["version", "timestamp", "task-name (who speaks)", "task-count"],
                "delivered_as": "control",
                "round_trip": True,
            },
        },
    ),
    "records that are no messages": (
        "control",
        {"kind": "serde", "input": {"cases": [[9, 1], [], [1, 0]]}, "expect": {"outcome": "error"}},
    ),
    "a format of the user's that fails": (
        "control",
        {
            "kind": "serde",
            "input": {"user_serde": "it cannot read that", "bytes": [0, 1, 2]},
            "expect": {"outcome": "error", "user_serde_saw": [1, 2]},
        },
    ),
    "streams that feed intermediate ones": (
        "control",
        {
            "kind": "producer_count",
            "input": {"graph": TWO_JOINS},
            "expect": {"p1": ["input3"], "p2": ["input1", "input2"]},
        },
    ),
    "upstream tasks by their partitions": (
        "control",
        {
            "kind": "producer_count",
            "input": {
                "tasks": {"a": ["in#0", "in#2"], "b": ["in#1", "other#0"]},
                "intermediate_to_inputs": {"int": ["in"], "more": ["in", "other"]},
            },
            "expect": {"int": 2, "more": 2},
        },
    ),
    "a bounded source": (
        "control",
        {
            "kind": "pipeline",
            "input": {"source_partitions": 3, "intermediate_partitions": 2, "records": 12},
            "expect": {"received": 12, "job_terminates": True},
        },
    ),
    "a stream that is shuffled twice": (
        "control",
        {
            "kind": "pipeline",
            "input": {"source_tasks": 2, "p1_partitions": 3, "p2_partitions": 2},
            "expect": {
                "eos_messages_on_p1": 6,
                "eos_messages_on_p2": 6,
                "eos_callbacks": {"p1": 3, "p2": 2},
                "job_terminates": True,
                "order": "p1 before p2",
            },
        },
    ),
    "an end beside a side input": (
        "control",
        {
            "kind": "pipeline",
            "input": {"main": ["in#0"], "side_inputs": ["users#0"], "events": [["in#0", "eos"]]},
            "expect": {"task_ends": True, "watermark_ignores_side_input": True},
        },
    ),
    "watermarks behind their records": (
        "control",
        {
            "kind": "pipeline",
            "input": {
                "partitions": 2,
                "producer_writes": [["p0", "rec", 5], ["wm", 5], ["p1", "rec", 6], ["p1", "rec", 3]],
            },
            "expect": {"late_records": 1},
        },
    ),
    "an operator with two inputs": (
        "control",
        {
            "kind": "pipeline",
            "input": {"interleaving": ["x4", "y2", "y7"]},
            "expect": {"operator_watermarks": [None, 2, 4], "emitted": [2, 4]},
        },
    ),
    "a task with two partitions of a stream": (
        "control",
        {
            "kind": "pipeline",
            "input": {"upstream_tasks": ["a", "b"], "downstream_tasks": {"d": ["int#0", "int#1"]}},
            "expect": {"stream_eos": True, "job_terminates": True},
        },
    ),
    "an upstream task that ends twice": (
        "control",
        {
            "kind": "pipeline",
            "input": {"events": ["eos(a)", "crash", "eos(a)"]},
            "expect": {"eos_counted_once": True, "downstream_eos_emitted": 1},
        },
    ),
    "a task that moves between two ends": (
        "control",
        {
            "kind": "pipeline",
            "input": {"events": ["eos(a)", "task moves to another container", "eos(b)"]},
            "expect": {"stream_eos": True, "callbacks": 1},
        },
    ),
    "a grouper of the user's": (
        "expansion",
        {
            "grouper": "custom:partition0-separate",
            "stateful": True,
            "steps": [
                {
                    "streams": {"s.v": 3},
                    "expect": {"tasks": {"Partition 0": ["s.v#0"], "Partition 1": ["s.v#1", "s.v#2"]}},
                }
            ],
        },
    ),
    "an expansion by a table": (
        "expansion",
        {
            "grouper": "GroupByPartition",
            "stateful": True,
            "previous": {"P0": ["s.v#0"], "P1": ["s.v#1"]},
            "algorithm_table": {"2": 1, "3": 0},
            "steps": GROWTH,
        },
    ),
    "a sentence for what a message names": (
        "planner",
        {
            "streams": {
                "a": {"kind": "input", "partitions": 8},
                "b": {"kind": "input", "partitions": 6},
            },
            "graph": [
                {"id": "of-a", "op": "input", "stream": "a"},
                {"id": "of-b", "op": "input", "stream": "b"},
                {"id": "j", "op": "join", "in": ["of-a", "of-b"]},
            ],
            "expect": {
                "outcome": "rejected",
                "error": "JOIN_PARTITION_MISMATCH",
                "message_must_name": "join j, a with 8 and b with 6",
                "conflict_component": ["a", "b"],
            },
        },
    ),
}
ALL = [pytest.param(*shape, id=name) for name, shape in SHAPES.items()]
BINDING = [
    pytest.param(case.group, case.vector, id=case.id)
    for case in cases()
    if weight(case.strictness) is Weight.BINDING and case.strictness != "shipped-exact"
]


def differences(group: str, vector: dict[str, Any]) -> list[str]:
    return differences_of(runner_of(group).run, vector)


def mappings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of the mappings in a case; of a list, and of many mappings of one form, the first."""
    if isinstance(value, dict):
        if path and path[-1] == "exact_samza":
            return  # what Samza answered, which binds nobody
        if not (path and path[-1] in NAMED and "expect" not in path):
            yield path
        forms = set()
        for name, inner in value.items():
            form = json.dumps(sorted(inner)) if isinstance(inner, dict) else name
            if form not in forms:
                yield from mappings(inner, (*path, name))
            forms.add(form)
    elif isinstance(value, list):
        for number, inner in enumerate(value[:1]):
            yield from mappings(inner, (*path, number))


def with_unknown(vector: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(vector)
    place: Any = changed
    for step in path:
        place = place[step]
    place[UNKNOWN] = UNKNOWN
    return changed


@pytest.mark.parametrize(("group", "vector"), ALL)
def test_a_shape_is_judged(group: str, vector: dict[str, Any]) -> None:
    assert differences(group, vector) == []


@pytest.mark.parametrize(("group", "vector"), ALL)
def test_an_expectation_that_is_not_met_is_a_difference(group: str, vector: dict[str, Any]) -> None:
    free = {"aggregate_design_messages"}  # of a design that was not chosen
    steps = vector.get("steps") or vector.get("events") or ()
    expects = [one["expect"] for one in (vector, *steps) if "expect" in one]
    for number, expect in enumerate(expects):
        for name in expect.keys() - free:
            changed = copy.deepcopy(vector)
            steps = changed.get("steps") or changed.get("events") or ()
            [one["expect"] for one in (changed, *steps) if "expect" in one][number][name] = UNKNOWN
            assert differences(group, changed), name


@pytest.mark.parametrize(("group", "vector"), [*ALL, *BINDING])
def test_a_field_that_is_not_known_is_named_wherever_it_stands(group: str, vector: dict[str, Any]) -> None:
    for path in mappings(vector):
        found = differences(group, with_unknown(vector, path))
        assert found, path
        assert any(UNKNOWN in text for text in found) or path, path


def test_a_group_that_is_not_known_is_named() -> None:
    case = Case("colours", {"id": "x", "strictness": "must"})
    with pytest.raises(ValueError, match="no group of vectors is called 'colours'"):
        runner_of(case.group)


def test_what_tells_people_of_a_case_is_prose_at_its_head_alone() -> None:
    group, vector = SHAPES["processors that are counted"]
    assert differences(group, {**vector, "note": "a remark"}) == []
    remark = {**vector["expect"], "note": "a remark"}
    assert differences(group, {**vector, "expect": remark}) == [
        "stage 0: there is no rule for the note a remark"
    ]
