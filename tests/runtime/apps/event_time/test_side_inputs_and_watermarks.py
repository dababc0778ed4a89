"""Side inputs hold back neither watermarks nor the end of an app, whether they have event times or not."""

import pytest

from streamapp.spec.resource.app import StreamApp
from tests.harness.runs.app_runs import AppEnv, Input, Row, app
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

USERS = {
    "name": "users",
    "key": "user",
    "columns": "user STRING, tier INT, ts TIMESTAMP",
    "eventTime": {"column": "ts"},
}
LONG_AGO = {"user": "ann", "tier": 1, "ts": "2020-01-01T00:00:00Z"}


def beside_users(broadcast: bool, **spec: object) -> StreamApp:
    """Windows over events that were joined with a table of users."""
    table = {"name": "users", "broadcast": broadcast, "sideInputs": [{"stream": "users", "bootstrap": True}]}
    joined: Row = {
        "name": "with",
        "joinTable": {"from": "events", "table": "users", "key": "user", "select": "user, n, tier, ts"},
    }
    return app(
        joined,
        counting("with"),
        sent("counted"),
        streams=[events(), USERS, {"name": "out", "key": "user"}],
        tables=[table],
        **spec,
    )


@pytest.mark.parametrize("broadcast", [False, True])
def test_windows_go_out_although_the_table_was_last_written_to_long_ago(env: AppEnv, broadcast: bool) -> None:
    env.write("users", [Input("ann", LONG_AGO)], partitions=1)
    env.write("events", inputs([at(1), at(3), at(12)]), partitions=1)
    env.run(beside_users(broadcast, config=NOW))
    assert [row["rows"] for row in env.rows("out")] == [2]


def test_a_batch_app_ends_although_its_side_input_goes_on(env: AppEnv) -> None:
    env.write("users", [Input("ann", LONG_AGO)], partitions=1)
    env.write("events", inputs([at(1), at(3), at(12)]), partitions=1)
    env.run_to_end(beside_users(broadcast=False, mode="batch"))
    assert sorted(row["rows"] for row in env.rows("out")) == [1, 2]
