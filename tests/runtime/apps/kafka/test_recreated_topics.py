"""A topic that was made again by its name is another one: how far the old one was read says nothing."""

from typing import Any

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.kafka.shared_topics import remove
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_KAFKA

pytestmark = ON_KAFKA


def copying(**spec: Any) -> StreamApp:
    views = {"name": "views", "key": "user", "columns": "user STRING"}
    copy = {"name": "out", "sendTo": {"from": "views", "stream": "seen"}}
    return app(copy, streams=[views, {"name": "seen", "key": "user"}], **spec)


def made_again(env: AppEnv, kafka: str) -> None:
    """The app has read two views; their topic is made again with three others."""
    env.write("views", inputs([{"user": "ann"}, {"user": "bob"}], "user"), partitions=1)
    env.run(copying())
    remove(kafka, [f"{env.prefix}views"])
    env.write("views", inputs([{"user": user} for user in ("cid", "dan", "eva")], "user"), partitions=1)


def test_an_app_that_may_lose_nothing_is_refused_and_the_topic_is_named(env: AppEnv, kafka: str) -> None:
    made_again(env, kafka)
    with pytest.raises(AppRefusedError, match=r'streams\[0\].*\.views" was deleted and made again'):
        env.run(copying())


def test_an_app_that_goes_on_reads_the_new_topic_from_its_beginning(env: AppEnv, kafka: str) -> None:
    made_again(env, kafka)
    env.run(copying(onDataLoss="earliest"))
    assert [row["user"] for row in env.rows("seen")] == ["ann", "bob", "cid", "dan", "eva"]


def test_a_running_app_that_goes_on_reads_the_new_topic_once_from_its_beginning(
    env: AppEnv, kafka: str
) -> None:
    """Also where the new topic has fewer records than were read of the last."""
    env.write("views", inputs([{"user": "ann"}, {"user": "bob"}], "user"), partitions=1)
    run = Run.start(env, copying(onDataLoss="earliest"))
    run.to_the_end()
    remove(kafka, [f"{env.prefix}views"])
    env.write("views", inputs([{"user": "cid"}], "user"), partitions=1)
    until(lambda: run.loop.step() is not None, 60)
    run.to_the_end()
    env.write("views", inputs([{"user": "dan"}], "user"), partitions=1)
    until(lambda: run.loop.step() is not None, 60)
    run.to_the_end()
    assert [row["user"] for row in env.rows("seen")] == ["ann", "bob", "cid", "dan"]


def test_a_running_app_ends_when_its_topic_is_made_again_with_fewer_partitions(
    env: AppEnv, kafka: str
) -> None:
    """No partition can be taken from a topic, so this is the only way in which one shrinks."""
    env.write("views", inputs([{"user": user} for user in ("ann", "bob", "cid")], "user"), partitions=4)
    run = Run.start(env, copying())
    run.to_the_end()
    remove(kafka, [f"{env.prefix}views"])
    env.system.create(f"{env.prefix}views", 2)
    with pytest.raises(FinalFailureError, match=r"views.*2 partitions"):
        run.to_the_end()


def test_an_app_that_waits_for_a_side_input_ends_when_that_is_deleted(env: AppEnv, kafka: str) -> None:
    pages, prices = (
        {"key": "page", "columns": "page STRING"},
        {"key": "page", "columns": "page STRING, price INT"},
    )
    with_price = {"name": "with", "joinTable": {"from": "views", "table": "prices", "select": "page, price"}}
    side = {"stream": "prices", "bootstrap": True, "versions": "nullKey"}
    waiting = app(
        with_price,
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[{"name": "views", **pages}, {"name": "prices", **prices}, {"name": "out"}],
        tables=[{"name": "prices", "store": "rocksdb", "sideInputs": [side]}],
    )
    env.write("prices", inputs([{"page": "a", "price": 1}], "page"), partitions=1)
    env.write("views", inputs([{"page": "a"}], "page"), partitions=1)
    run = Run.start(env, waiting)
    until(lambda: run.loop.step() is None and run.loop.planner.awaited == ("prices",), 60)
    remove(kafka, [f"{env.prefix}prices"])
    with pytest.raises(FinalFailureError, match=r"a stream of the app no longer exists: .*prices"):
        until(lambda: run.loop.step() is not None, 60)
