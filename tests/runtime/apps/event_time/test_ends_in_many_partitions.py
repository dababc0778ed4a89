"""Ends that a hundred tasks tell to a hundred partitions, three times over."""

from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.timed_streams import at, counting, events, sent

MANY = 100


def test_three_repartitions_over_a_hundred_partitions_come_to_their_end(env: AppEnv) -> None:
    made = app(
        {"name": "a", "partitionBy": {"from": "events", "key": "page", "partitions": MANY}},
        {"name": "b", "partitionBy": {"from": "a", "key": "user", "partitions": MANY}},
        {"name": "c", "partitionBy": {"from": "b", "key": "page", "partitions": MANY}},
        counting("c", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        mode="batch",
    )
    env.write("events", inputs([at(n, f"u{n % 997}", f"/{n % 50}") for n in range(500)], "user"), MANY)
    batches = env.run_to_end(made)
    assert sum(row["rows"] for row in env.rows("out")) == 500
    assert len(batches) <= 6, "each stage ends in the batch after the one before it"
