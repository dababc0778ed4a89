"""Records that went before an app had read them: it ends and says so, or goes on, as it is told."""

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.runs.app_runs import AppEnv, Row, app, inputs

VIEWS = Partition("views", 0)
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
