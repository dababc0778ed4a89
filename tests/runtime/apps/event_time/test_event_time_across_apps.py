"""An app that reads another's intermediate stream ends and goes on as if the two were one."""

from streamapp.spec.resource.app import StreamApp
from tests.harness.runs.app_runs import AppEnv, Row, app, inputs
from tests.harness.runs.run_systems import ON_BOTH
from tests.harness.runs.timed_streams import NOW, at, counting, events, sent

PAGES = [at(n, f"u{n % 7}", f"/{n % 3}") for n in range(60)]
OF_EACH = ("bob", "dan", "hal", "gus")
"""A key for each of four partitions."""
BY_PAGE: Row = {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}}
OUT = {"name": "out", "key": "page"}


def first(**more: object) -> StreamApp:
    return app(BY_PAGE, streams=[events("2s")], name="first", config=NOW, **more)


def second(**more: object) -> StreamApp:
    read = {
        "name": "pages",
        "topic": first().intermediate_stream("by-page"),
        "key": "page",
        "columns": "user STRING, page STRING, n INT, ts TIMESTAMP",
        "carriesWatermarks": True,
    }
    return app(
        counting("pages", key="page"), sent("counted"), streams=[read, OUT], name="second", config=NOW, **more
    )


def both(**more: object) -> StreamApp:
    return app(
        BY_PAGE,
        counting("by-page", key="page"),
        {"name": "one-sent", "sendTo": {"from": "counted", "stream": "one"}},
        streams=[events("2s"), {"name": "one", "key": "page"}],
        name="both",
        config=NOW,
        **more,
    )


@ON_BOTH
def test_two_apps_give_what_one_gives_of_the_same_records(env: AppEnv) -> None:
    for part in (PAGES[:20], PAGES[20:45], PAGES[45:]):
        env.write("events", inputs(part, "user"), partitions=2)
        env.run(first(), rows=7)
        env.run(second(), rows=5)
        env.run(both(), rows=11)
    assert env.rows("out") == env.rows("one") != []


@ON_BOTH
def test_the_end_of_one_batch_app_ends_the_next(env: AppEnv) -> None:
    env.write("events", inputs(PAGES, "user"), partitions=2)
    env.run_to_end(first(mode="batch"), rows=9)
    env.run_to_end(second(mode="batch"))
    env.run_to_end(both(mode="batch"))
    assert env.rows("out") == env.rows("one")
    assert sum(row["rows"] for row in env.rows("out")) == len(PAGES)


@ON_BOTH
def test_tasks_formed_anew_upstream_neither_stall_a_reader_nor_take_it_back(env: AppEnv) -> None:
    """Four upstream tasks become one and then four again; each speaks before the next is counted on."""
    for number, grouper in enumerate(["partition", "single", "partition", "single"]):
        seconds = range(30 * number, 30 * number + 30)
        env.write("events", inputs([at(n, user, "/") for n in seconds for user in OF_EACH], "user"), 4)
        env.run(first(grouper=grouper))
        env.run(second())
    found = [(row["window_start"][14:19], row["rows"]) for row in env.rows("out")]
    assert sorted(found) == [(f"{s // 60:02}:{s % 60:02}", 40) for s in range(0, 110, 10)]
