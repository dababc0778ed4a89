"""A topic that was made again by its name is another one: how far the old one was read says nothing."""

from typing import Any

import pytest

from streamapp.spec.app import StreamApp
from streamapp_runtime.driver.refused import RefusedError
from tests.engine.graphs.harness import House, app, told
from tests.engine.systems.topics import remove


def copying(name: str, **spec: Any) -> StreamApp:
    streams = [
        {"name": "views", "topic": f"{name}.views", "key": "user", "columns": "user STRING"},
        {"name": "seen", "topic": f"{name}.seen", "key": "user"},
    ]
    copy = {"name": "out", "sendTo": {"from": "views", "stream": "seen"}}
    systems = [{"name": "main", "kafka": {"bootstrapServers": "not-looked-at:9092"}}]
    return app(copy, streams=streams, name=name, systems=systems, **spec)


def made_again(there: House, kafka: str, name: str) -> None:
    """The app has read two views; their topic is made again with three others."""
    remove(kafka, [f"{name}.views", f"{name}.seen", f"test.{name}.checkpoint"])
    there.write(f"{name}.views", told([{"user": "ann"}, {"user": "bob"}], "user"), partitions=1)
    there.run(copying(name))
    remove(kafka, [f"{name}.views"])
    there.system.create(f"{name}.views", 1)
    there.write(
        f"{name}.views", told([{"user": user} for user in ("cid", "dan", "eva")], "user"), partitions=1
    )


def test_an_app_that_may_lose_nothing_is_refused_and_the_topic_is_named(there: House, kafka: str) -> None:
    made_again(there, kafka, "refused")
    with pytest.raises(RefusedError, match=r'streams\[0\].*"refused.views" was deleted and made again'):
        there.run(copying("refused"))


def test_an_app_that_goes_on_reads_the_new_topic_from_its_beginning(there: House, kafka: str) -> None:
    made_again(there, kafka, "again")
    there.run(copying("again", onDataLoss="earliest"))
    assert [row["user"] for row in there.rows("again.seen")] == ["ann", "bob", "cid", "dan", "eva"]
