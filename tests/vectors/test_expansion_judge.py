"""The judge of expansion vectors must see what is wrong, and take what the format allows."""

import copy
from typing import Any

import pytest

from tests.vectors.groups import expansion
from tests.vectors.judging import differences_of

STEPS: list[dict[str, Any]] = [
    {"streams": {"s.v": 2}, "expect": {"outcome": "ok", "tasks": {"P0": ["s.v#0"], "P1": ["s.v#1"]}}},
    {
        "streams": {"s.v": 4},
        "expect": {"outcome": "ok", "tasks": {"P0": ["s.v#0", "s.v#2"], "P1": ["s.v#1", "s.v#3"]}},
    },
]
VECTOR: dict[str, Any] = {
    "grouper": "GroupByPartitionFixedTasks",
    "stateful": True,
    "broadcast": [],
    "previous": {"P0": ["s.v#0"], "P1": ["s.v#1"]},
    "steps": STEPS,
}


def run(vector: dict[str, Any]) -> list[str]:
    return differences_of(expansion.run, vector)


def changed(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(VECTOR), **fields}


def expecting(streams: dict[str, Any], **expect: Any) -> dict[str, Any]:
    return {"streams": streams, "expect": expect}


def test_a_vector_that_is_met_has_no_differences() -> None:
    assert run(VECTOR) == []


def test_a_rejected_step_leaves_the_model_as_it_was() -> None:
    kept = STEPS[1]["expect"]
    rejected = expecting({"s.v": 3}, outcome="rejected", tasks={"P0": ["s.v#0"], "P1": ["s.v#1"]})
    assert run(changed(steps=[STEPS[0], rejected, {"streams": {"s.v": 4}, "expect": kept}])) == []


def test_a_refusal_is_fine_where_it_is_an_alternative() -> None:
    step = expecting({"s.v": 3}, outcome="ok", alternative="rejected", tasks={"anything": []})
    assert run(changed(steps=[step])) == []


@pytest.mark.parametrize(
    "step",
    [
        expecting({"s.v": 4}, outcome="rejected"),
        expecting({"s.v": 3}, outcome="ok"),
        expecting({"s.v": 3}, outcome="rejected", error="EXPANSION_SHRINKS"),
        expecting({"s.v": 2}, outcome="ok", tasks={"P0": ["s.v#0"]}),
        expecting({"s.v": 2}, outcome="ok", tasks={"P0": ["s.v#1"], "P1": ["s.v#0"]}),
        expecting({"s.v": 2}, outcome="ok", tasks={"P0": ["s.v#0"], "P1": ["s.v#1"], "P2": []}),
        expecting({"s.v": 2}, outcome="ok", changelog={"P0": 1, "P1": 0}),
        expecting({"s.v": 2}, outcome="ok", changelog={"P0": 0}),
        expecting({"s.v": 2}, outcome="ok", changelog_count=3),
    ],
)
def test_what_is_not_met_is_a_difference(step: dict[str, Any]) -> None:
    assert run(changed(steps=[step])) != []


def test_what_a_vector_also_asks_is_judged_without_its_previous_tasks() -> None:
    also = expecting({"s.v": 1}, outcome="ok", tasks={"Partition 0": ["s.v#0"]})
    assert run(changed(also=also)) == []
    assert run(changed(also=[also, expecting({}, outcome="rejected")])) != []


def test_what_is_not_offered_is_a_difference_and_no_crash() -> None:
    assert run(changed(previous={"P0": ["s.v#0/1"]})) != []
    assert run(changed(grouper="GroupByColour")) != []


def test_stores_decide_about_state_where_they_are_listed() -> None:
    free = expecting({"s.v": 1}, outcome="ok", tasks={"Partition 0": ["s.v#0"]})
    assert run(changed(stores=[{"name": "s", "persistent": False, "changelog": False}], steps=[free])) == []
    held = expecting({"s.v": 1}, outcome="rejected")
    assert run(changed(stores=[{"name": "s", "persistent": False, "changelog": True}], steps=[held])) == []


def test_single_calls_may_expect_an_index_or_a_refusal() -> None:
    calls: list[dict[str, Any]] = [
        {"current": 5, "previous_count": 4, "current_count": 8, "expect": 1},
        {"current": 5, "previous_count": 4, "current_count": 6, "expect": "rejected"},
    ]
    assert run({"grouper": "mapper", "mapper": calls}) == []
    assert (
        len(run({"grouper": "mapper", "mapper": [{**calls[0], "expect": 2}, {**calls[1], "expect": 1}]})) == 2
    )
