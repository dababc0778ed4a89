"""Records that went before an app had read them: it ends and says so, or goes on, as it is told."""

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.runs.app_runs import House, Row, app, told

VIEWS = Partition("views", 0)
STREAMS = [{"name": "views", "key": "user", "columns": "user STRING"}, {"name": "seen", "key": "user"}]
COPY = {"name": "out", "sendTo": {"from": "views", "stream": "seen"}}


def users(*names: str) -> list[Row]:
    return [{"user": name} for name in names]


def lost(here: House) -> None:
    """The app has read one view; two came, and the first of them went."""
    here.write("views", told(users("ann"), "user"), partitions=1)
    here.run(app(COPY, streams=STREAMS))
    here.write("views", told(users("bob", "cid"), "user"), partitions=1)
    here.system.delete_before({VIEWS: here.system.spans([VIEWS])[VIEWS].end - 1})


def test_an_app_that_may_lose_nothing_ends_and_names_what_is_gone(here: House) -> None:
    lost(here)
    with pytest.raises(
        FinalFailureError, match=r"views#0: records from 1 to 2 went unread.*onDataLoss: earliest"
    ):
        here.run(app(COPY, streams=STREAMS))
    assert here.rows("seen") == users("ann")


def test_an_app_that_goes_on_does_so_from_the_oldest_record_there_is(here: House) -> None:
    lost(here)
    here.run(app(COPY, streams=STREAMS, onDataLoss="earliest"))
    here.run(app(COPY, streams=STREAMS, onDataLoss="earliest"))
    assert here.rows("seen") == users("ann", "cid")
