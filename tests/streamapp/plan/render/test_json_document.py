import json
from typing import Any

from hypothesis import given

from streamapp.graph.nodes import Graph
from streamapp.plan.planner import plan
from streamapp.plan.render import json_document
from tests.harness.graphs.conflicting_joins import eight_and_six
from tests.harness.graphs.wild_graphs import wild_graphs


def shown(graph: Graph) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json_document.render("page-views", graph, plan(graph)))
    return found


def test_a_rejected_plan_says_what_fails_with_which_counts_and_what_would_mend_it() -> None:
    found = shown(eight_and_six())
    assert (found["version"], found["app"], found["mode"], found["outcome"]) == (
        1,
        "page-views",
        "stream",
        "rejected",
    )
    assert found["streams"]["users"] == {
        "partitions": 6,
        "role": "sideInput",
        "system": "main",
        "broadcast": False,
        "because": "from system main",
    }
    assert found["joins"] == [
        {"operator": "joined", "kind": "joinTable", "streams": ["users", "views"], "partitions": None}
    ]
    (error,) = found["errors"]
    assert (error["reason"], error["operator"]) == ("JoinPartitionMismatch", "joined")
    assert error["streams"] == {"users": 6, "views": 8}
    assert "users has 6; views has 8" in error["message"]
    assert error["hint"].startswith("repartition views")


@given(wild_graphs())
def test_what_a_program_reads_back_is_what_was_planned(graph: Graph) -> None:
    planned, found = plan(graph), shown(graph)
    assert {name: stream["partitions"] for name, stream in found["streams"].items()} == {
        name: stream.partitions for name, stream in planned.streams.items()
    }
    assert [join["operator"] for join in found["joins"]] == [join.operator for join in planned.joins]
    assert [error["message"] for error in found["errors"]] == [error.message for error in planned.errors]
    assert [stage["operators"] for stage in found["stages"]] == [
        list(one.operators) for one in planned.stages
    ]
