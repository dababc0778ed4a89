"""Apps that look rows up in tables kept elsewhere, which may be away."""

from pathlib import Path
from typing import Any

import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.failures import FailedError
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_SPARK

VIEWS = {"name": "views", "key": "user", "columns": "user STRING, n INT"}
TIERS = {"u0": 0, "u1": 10, "u2": 20}
ROWS: list[Row] = [{"user": f"u{i % 5}", "n": i} for i in range(20)]
CLASSES = "tests.harness.user_code.remote_table_code"
MOST_STEPS = 100_000


def far(env: AppEnv, **more: Any) -> Row:
    """A table that a folder stands for."""
    remote = {"python": f"{CLASSES}:Folder", "options": {"path": str(env.data / "service")}, **more}
    return {"name": "far", "columns": "tier INT", "remote": remote}


def joining(env: AppEnv, kind: str = "inner", **more: Any) -> Any:
    body = {"from": "views", "table": "far", "type": kind, "select": "user, n, tier"}
    return app(
        {"name": "joined", "joinTable": body},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        streams=[VIEWS, {"name": "out"}],
        tables=[far(env, **more)],
    )


def there(env: AppEnv) -> None:
    """The service is up from now on."""
    folder = Path(env.data / "service")
    folder.mkdir()
    for user, tier in TIERS.items():
        (folder / user).write_text(str(tier))


def asked(env: AppEnv) -> list[str]:
    return (env.data / "asked").read_text().splitlines()


def joined(kind: str = "inner") -> list[Row]:
    rows = [row | {"tier": TIERS[row["user"]]} for row in ROWS if row["user"] in TIERS]
    return in_order(rows + [row for row in ROWS if row["user"] not in TIERS and kind == "left"])


def without_nulls(rows: list[Row]) -> list[Row]:
    return in_order([{name: value for name, value in row.items() if value is not None} for row in rows])


def counted(batches: list[BatchResult], counter: str) -> int:
    reports = [report for batch in batches for report in batch.reports]
    return sum(n for report in reports for name, _, n in report.counted if name == counter)


@pytest.mark.parametrize("kind", ["inner", "left"])
def test_rows_are_joined_with_what_the_table_holds_elsewhere(env: AppEnv, kind: str) -> None:
    there(env)
    env.write("views", inputs(ROWS, "user"))
    batches = env.run(joining(env, kind))
    assert without_nulls(env.rows("out")) == joined(kind)
    assert sorted(asked(env)) == ["u0", "u1", "u2", "u3", "u4"]
    assert counted(batches, "remoteAsked") == 5


def test_what_the_cache_knows_is_not_asked_for_again(env: AppEnv) -> None:
    there(env)
    env.write("views", inputs(ROWS, "user"))
    batches = env.run(joining(env, cache={"size": 10, "ttl": "1h"}), rows=7)
    assert env.rows("out") == joined()
    assert sorted(asked(env)) == ["u0", "u1", "u2", "u3", "u4"]
    assert counted(batches, "remoteCached") > 0


def test_a_class_of_the_app_looks_rows_up_too(env: AppEnv) -> None:
    there(env)
    env.write("views", inputs(ROWS, "user"))
    body = {"from": "views", "python": f"{CLASSES}:Tiers", "tables": ["far"]}
    made = app(
        {"name": "seen", "process": body | {"columns": "user STRING, tier INT, known BOOLEAN"}},
        {"name": "sent", "sendTo": {"from": "seen", "stream": "out"}},
        streams=[VIEWS, {"name": "out"}],
        tables=[far(env)],
    )
    env.run(made)
    expected = [{"user": row["user"], "known": row["user"] in TIERS} for row in ROWS]
    found = [row | {"tier": TIERS[row["user"]]} if row["known"] else row for row in expected]
    assert without_nulls(env.rows("out")) == in_order(found)


@ON_SPARK
def test_a_remote_table_is_joined_before_and_after_sql_of_one_app(env: AppEnv) -> None:
    there(env)
    env.write("views", inputs(ROWS, "user"))
    made = app(
        {"name": "once", "joinTable": {"from": "views", "table": "far", "select": "user, n, tier AS x"}},
        {"name": "more", "map": {"from": "once", "select": "user, n, try_add(abs(x), 1) AS x"}},
        {"name": "twice", "joinTable": {"from": "more", "table": "far", "key": "user"}},
        {"name": "sent", "sendTo": {"from": "twice", "stream": "out"}},
        streams=[VIEWS, {"name": "out"}],
        tables=[far(env)],
    )
    env.run(made)
    assert env.rows("out") == in_order([row | {"x": row["tier"] + 1} for row in joined()])


def test_rows_wait_for_a_table_that_is_away_and_none_is_lost(env: AppEnv) -> None:
    env.write("views", inputs(ROWS, "user"))
    ledger, ready = env.launched(joining(env, retry={"attempts": 1}))
    heard: list[str] = []
    loop = env.loop(CurrentRun.of(ready, batch_rows=8), batch_failed=heard.append)
    loop.start()
    waits = 0
    for _ in range(MOST_STEPS):
        batch = loop.step()
        waits += batch is not None and any(report.status == "waiting" for report in batch.reports)
        if waits == 3:
            break
    assert env.rows("out") == []
    assert loop.recovery.retries.failures == 0
    incarnation = ledger.incarnation
    there(env)
    for _ in range(MOST_STEPS):
        if loop.step() is None and not loop.planner.behind:
            break
    loop.release()
    assert env.rows("out") == joined()
    assert ledger.incarnation == incarnation
    (message,) = heard
    assert message.startswith('remote table "far" is unavailable: FileNotFoundError')


def test_without_a_table_that_is_away_columns_are_null_and_inner_joins_drop_and_both_are_counted(
    env: AppEnv,
) -> None:
    env.write("views", inputs(ROWS, "user"))
    settings = {"onUnavailable": "asMissing", "retry": {"attempts": 1}}
    batches = env.run(joining(env, "left", **settings))
    assert without_nulls(env.rows("out")) == in_order(ROWS)
    assert counted(batches, "remoteUnanswered") == 5


@pytest.mark.usefixtures("process")
def test_an_app_that_cannot_do_without_a_table_ends_and_may_be_started_again(env: AppEnv) -> None:
    env.write("views", inputs(ROWS, "user"))
    made = joining(env, onUnavailable="fail", retry={"attempts": 2, "backoff": "1ms"})
    with pytest.raises(FailedError, match='remote table "far" is unavailable') as ended:
        env.run(made)
    assert not ended.value.final
    assert env.rows("out") == []
    there(env)
    env.run(made)
    assert env.rows("out") == joined()


def refused(env: AppEnv, table: Row) -> dict[str, str]:
    env.system.create("views", 2)
    body = {"name": "joined", "joinTable": {"from": "views", "table": "far", "select": "user"}}
    sent = {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}}
    made = app(body, sent, streams=[VIEWS, {"name": "out"}], tables=[table])
    with pytest.raises(AppRefusedError) as caught:
        env.launched(made)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_a_table_whose_class_is_not_there_is_refused_where_it_is_named(env: AppEnv) -> None:
    found = refused(env, far(env) | {"remote": {"python": f"{CLASSES}:Absent"}})
    assert list(found) == ["spec.tables[0].remote.python"]
    assert "has no attribute 'Absent'" in found["spec.tables[0].remote.python"]


def test_columns_that_the_class_does_not_give_are_refused_where_they_stand(env: AppEnv) -> None:
    found = refused(env, far(env) | {"columns": "tier STRING"})
    assert list(found) == ["spec.tables[0].columns"]


def test_options_that_the_class_refuses_are_told_with_its_words(env: AppEnv) -> None:
    found = refused(env, far(env, options={}))
    assert "no option path" in found["spec.tables[0].remote.python"]


def test_a_table_without_columns_is_refused(env: AppEnv) -> None:
    table = far(env)
    del table["columns"]
    assert list(refused(env, table)) == ["spec.tables[0].columns"]
