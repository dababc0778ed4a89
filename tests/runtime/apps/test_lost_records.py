"""Records that went before an app had read them: it ends and says so, or goes on, as it is told."""

from collections.abc import Callable

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.runs.app_runs import AppEnv, Row, app, inputs
from tests.harness.runs.drained_loop import drain

VIEWS = TopicPartition("views", 0)
STREAMS = [{"name": "views", "key": "user", "columns": "user STRING"}, {"name": "seen", "key": "user"}]
COPY = {"name": "out", "sendTo": {"from": "views", "stream": "seen"}}


def users(*names: str) -> list[Row]:
    return [{"user": name} for name in names]


def lost(env: AppEnv) -> None:
    """The app has read one view; two came, and the first of them went."""
    env.write("views", inputs(users("ann"), "user"), partitions=1)
    env.run(app(COPY, streams=STREAMS))
    env.write("views", inputs(users("bob", "cid"), "user"), partitions=1)
    env.system.delete_before({VIEWS: env.system.spans([VIEWS])[VIEWS].end - 1})


def test_an_app_that_may_lose_nothing_ends_and_names_what_is_gone(env: AppEnv) -> None:
    lost(env)
    with pytest.raises(
        FinalFailureError, match=r"views#0: records from 1 to 2 went unread.*onDataLoss: earliest"
    ):
        env.run(app(COPY, streams=STREAMS))
    assert env.rows("seen") == users("ann")


def test_an_app_that_goes_on_does_so_from_the_oldest_record_there_is(env: AppEnv) -> None:
    lost(env)
    env.run(app(COPY, streams=STREAMS, onDataLoss="earliest"))
    env.run(app(COPY, streams=STREAMS, onDataLoss="earliest"))
    assert env.rows("seen") == users("ann", "cid")


def with_records_lost_after_a_look(env: AppEnv, edited: StreamApp, trouble: Callable[[str], None]) -> None:
    """Run an app again whose second view goes once its lane has the order to read it."""
    env.write("views", inputs(users("ann"), "user"), partitions=1)
    env.run(edited)
    env.write("views", inputs(users("bob", "cid"), "user"), partitions=1)
    _, ready = env.launched(edited)
    is_lost = False

    def lose_records(step: str, _: float | None) -> None:
        nonlocal is_lost
        if step.startswith("runs batch") and not loop.lanes.supervisor.restoring and not is_lost:
            env.system.delete_before({VIEWS: env.system.spans([VIEWS])[VIEWS].end - 1})
            is_lost = True

    loop = env.loop(
        CurrentRun.of(ready), pause=lambda _: None, step_started=lose_records, batch_failed=trouble
    )
    loop.start()
    drain(loop)
    loop.release()


def test_records_that_go_after_the_look_are_given_up_at_the_next_one(env: AppEnv) -> None:
    troubles: list[str] = []
    with_records_lost_after_a_look(env, app(COPY, streams=STREAMS, onDataLoss="earliest"), troubles.append)
    assert env.rows("seen") == users("ann", "cid")
    refused, given_up = troubles
    assert refused.startswith("gone: views#0 starts at 2")
    assert given_up == (
        "views#0: records from 1 to 2 went unread; continuing from the oldest record there is"
    )


def test_records_that_go_after_the_look_end_an_app_that_may_lose_nothing(env: AppEnv) -> None:
    with pytest.raises(FinalFailureError, match=r"views#0: records from 1 to 2 went unread"):
        with_records_lost_after_a_look(env, app(COPY, streams=STREAMS), lambda _: None)
    assert env.rows("seen") == users("ann")
