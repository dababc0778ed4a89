"""A time with parts of a millisecond is that of the last whole one, before 1970 as well."""

from datetime import UTC, datetime, timedelta

from streamapp_runtime.testing.in_process_app import InProcessApp
from tests.harness.core.app_resources import app_resource

BEFORE = datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)


def test_rows_are_in_the_window_of_their_time_and_written_with_it() -> None:
    counted = {"from": "events", "aggregates": "count(*) AS n", "window": {"tumbling": {"size": "1s"}}}
    resource = app_resource(
        streams=[
            {
                "name": "events",
                "key": "user",
                "columns": "user STRING, ts TIMESTAMP",
                "eventTime": {"column": "ts", "delay": "0s"},
            },
            {"name": "copied"},
            {"name": "out"},
        ],
        operators=[
            {"name": "copy", "sendTo": {"from": "events", "stream": "copied", "timestamp": "ts"}},
            {"name": "counted", "aggregate": counted},
            {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        ],
    )
    with InProcessApp(resource) as kit:
        kit.send("events", {"user": "ann", "ts": BEFORE})
        kit.send("events", {"user": "ann", "ts": BEFORE + timedelta(seconds=1)})
        assert [record.timestamp for record in kit.records("copied")] == [-1, 999]
        kit.send("events", {"user": "ann", "ts": BEFORE + timedelta(seconds=9)})
        starts = [row["window_start"] for row in kit.rows("out")]
    assert starts == [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second) for second in (-1, 0)]
