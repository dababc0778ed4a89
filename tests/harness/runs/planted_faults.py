"""Faults that are planted in real runs, for those who look at them in different ways."""

from streamapp.spec.resource.app import StreamApp
from tests.harness.runs.app_runs import AppEnv, Row, app
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

SKEWED_KEYS = ["ann"] * 4_000 + [f"user {number}" for number in range(400)]
"""Keys of which one is that of most records."""


def two_streams() -> StreamApp:
    """An app that counts what comes of `events` and `stopped`, by windows that wait for both."""
    both = {"name": "both", "merge": {"from": ["events", "stopped"]}}
    operators = (both, counting("both"), sent("counted"))
    streams = [events(), {**events(), "name": "stopped"}, {"name": "out", "key": "user"}]
    return app(*operators, streams=streams, config=NOW)


def begin_both(env: AppEnv) -> None:
    """Write what both streams have in the first seconds."""
    env.write("events", inputs([at(0), at(5)]), 1)
    env.write("stopped", inputs([at(1), at(6)]), 1)


def go_on_alone(env: AppEnv, second: int) -> None:
    """Write to `events` alone."""
    env.write("events", inputs([at(second)]), 1)


def remote_table(env: AppEnv, python: str) -> list[Row]:
    """The remote table `far`, served by a class of the tests from a folder."""
    folder = env.data / "service"
    folder.mkdir(exist_ok=True)
    code = f"tests.harness.user_code.remote_table_code:{python}"
    options = {"path": str(folder)}
    return [{"name": "far", "columns": "tier INT", "remote": {"python": code, "options": options}}]


def joined_remotely(name: str) -> Row:
    """An operator that joins `events` with the remote table."""
    return {"name": name, "joinTable": {"from": "events", "table": "far", "select": "user, n, tier"}}
