"""Apps of any size with all that a drawing has to show: side inputs, tables, joins of joins."""

from collections.abc import Iterator

from streamapp.graph.nodes import Graph, OperatorNode, TableNode
from tests.harness.graphs.graph_drawing import (
    aggregate,
    drawn,
    fill,
    join,
    join_table,
    maps,
    merge,
    reads,
    repartition,
    sends,
)


def shop(operators: int, users: int = 8) -> Graph:
    """About so many operators; they agree when the side input `users` has 8 partitions."""
    tables = (TableNode("users", side_inputs=("users",)), TableNode("totals"))
    return drawn(*_operators(operators), counts={"users": users}, tables=tables)


def _operators(wanted: int) -> Iterator[OperatorNode]:
    yield reads("views")
    yield maps("real", "views")
    yield join_table("known", "real", "users")
    yield sends("out", "known", "enriched")
    before = "real"
    for number in range(max(0, (wanted - 3) // 9)):
        yield reads(f"orders-{number}")
        yield maps(f"clean-{number}", f"orders-{number}")
        yield repartition(f"by-user-{number}", f"clean-{number}")
        yield join(f"matched-{number}", f"by-user-{number}", before)
        yield merge(f"all-{number}", f"matched-{number}", f"clean-{number}")
        yield aggregate(f"counted-{number}", f"all-{number}")
        yield fill(f"kept-{number}", f"counted-{number}", "totals")
        yield join_table(f"rated-{number}", f"matched-{number}", "totals")
        yield maps(f"shown-{number}", f"rated-{number}")
        yield sends(f"out-{number}", f"shown-{number}", f"report-{number % 3}")
        before = f"clean-{number}" if number % 2 else f"shown-{number}"
