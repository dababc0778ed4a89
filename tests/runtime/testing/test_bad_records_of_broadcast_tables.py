"""A bad record of a stream that fills tables on several lanes is set aside once, whoever is there by then."""

from collections.abc import Iterator
from typing import Any

import pytest

from streamapp_runtime.testing.in_process_app import InProcessApp


def app(store: str) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "systems": [{"name": "main", "embedded": {"path": "data"}}],
        "onBadRecord": {"action": "skip", "bound": {"share": "100%", "inARow": 1_000_000}},
        "streams": [
            {"name": "sales", "system": "main", "key": "id", "columns": "id STRING"},
            {"name": "names", "system": "main", "key": "id", "columns": "id STRING, name STRING"},
            {"name": "out", "system": "main"},
        ],
        "tables": [
            {
                "name": "named",
                "broadcast": True,
                "store": store,
                "sideInputs": [{"stream": "names", "value": "name AS known", "bootstrap": True}],
            }
        ],
        "operators": [
            {"name": "joined", "joinTable": {"from": "sales", "table": "named", "type": "left"}},
            {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        ],
    }
    metadata = {"name": "named", "namespace": "test"}
    return {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": metadata, "spec": spec}


@pytest.fixture(params=["memory", "rocksdb", "lmdb"])
def kit(request: pytest.FixtureRequest) -> Iterator[InProcessApp]:
    partitions = {"sales": 3, "names": 2}
    with InProcessApp(app(request.param), partitions=partitions, processors=3) as kit:
        yield kit


def send_bad(kit: InProcessApp, number: int) -> None:
    kit.send("names", {"id": "a", "name": f"good {number}"})
    kit.send("names", b"no JSON", key=f"bad {number}")


def test_each_is_set_aside_and_counted_once_across_kills_and_restarts(kit: InProcessApp) -> None:
    send_bad(kit, 0)
    kit.restart()
    send_bad(kit, 1)
    kit.kill(before_commit=True)
    send_bad(kit, 2)
    kit.kill()
    send_bad(kit, 3)
    assert sorted(one.key or b"" for one in kit.bad()) == [b"bad %d" % number for number in range(4)]


def test_each_is_counted_once(kit: InProcessApp) -> None:
    send_bad(kit, 0)
    assert sum(batch.bad for batch in kit.batches) == 1
    assert sum(count for batch in kit.batches for count in batch.rejected.values()) == 1
