"""Rows that come back to a table that an operation before has filled, in the same batch."""

import pytest

from streamapp.spec.resource.app import StreamApp
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_SPARK

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
OTHERS = {"name": "others", "key": "user", "columns": "user STRING, n INT"}
KEEPING = {
    "python": "tests.harness.user_code.graph_code:Keeping",
    "tables": ["seen"],
    "columns": "user STRING, n INT",
}
ROWS: list[Row] = [{"user": f"u{i}", "n": i} for i in range(6)]


def twice_kept(grouper: str) -> StreamApp:
    """A class on both sides of an expression fills one table."""
    return app(
        {"name": "once", "process": {"from": "events", **KEEPING, "key": "user"}},
        {"name": "more", "map": {"from": "once", "select": "user, try_add(abs(n), 1) AS n"}},
        {"name": "again", "process": {"from": "more", **KEEPING, "key": "user"}},
        {"name": "sent", "sendTo": {"from": "again", "stream": "out"}},
        {"name": "aside", "sendTo": {"from": "others", "stream": "out"}},
        streams=[EVENTS, OTHERS, {"name": "out"}],
        tables=[{"name": "seen", "columns": "last INT"}],
        grouper=grouper,
    )


@pytest.mark.smoke
@ON_SPARK
def test_a_table_that_two_classes_fill_around_an_expression_sees_all_rows(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"))
    env.write("others", [], partitions=3)
    env.run(twice_kept("partition"), rows=4)
    assert env.rows("out") == in_order([{"user": row["user"], "n": row["n"] + 1} for row in ROWS])
