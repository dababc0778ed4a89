"""An app that numbers each user's events and adds them up, and what it must have written in the end."""

from collections import Counter

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, last_by_key, read_all

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n BIGINT"}


USERS = 40


def numbered(first: int, last: int) -> list[Row]:
    """For each user the numbers from the first up to the last."""
    return [{"user": f"u{user}", "n": n} for n in range(first, last) for user in range(USERS)]


def chained(**spec: object) -> StreamApp:
    process = {
        "from": "events",
        "python": "tests.harness.user_code.order_code:Chained",
        "columns": "user STRING, n BIGINT, before BIGINT",
    }
    return app(
        {"name": "chain", "process": process},
        {"name": "sent", "sendTo": {"from": "chain", "stream": "out"}},
        {"name": "total", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}},
        {"name": "told", "sendTo": {"from": "total", "stream": "totals"}},
        streams=[EVENTS, {"name": "out", "key": "user"}, {"name": "totals", "key": "user"}],
        **spec,
    )


def everything_once_and_in_order(env: AppEnv, numbers: int) -> None:
    rows = env.rows("out")
    expected = [row | {"before": row["n"] - 1} for row in numbered(0, numbers)]
    assert in_order(rows) == in_order(expected)
    totals = {key: value["total"] for key, value in last_by_key(env.records("totals")).items()}
    assert totals == {f"u{user}": sum(range(numbers)) for user in range(USERS)}


def log_has_everything_once(system: EmbeddedSystem, rounds: int) -> None:
    rows = [record.value for record in read_all(system, "out")]
    found = Counter((row["user"], row["n"], row["before"]) for row in rows)
    assert found == Counter((row["user"], row["n"], row["n"] - 1) for row in numbered(0, rounds))
    totals = {key: value["total"] for key, value in last_by_key(read_all(system, "totals")).items()}
    assert totals == {f"u{user}": sum(range(rounds)) for user in range(USERS)}
