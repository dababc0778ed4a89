"""Tables that topics fill: neither what a broker leaves there nor what is written meanwhile holds them up."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from tests.harness.kafka.clients import consumed, producer
from tests.harness.kafka.topic_records import create
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.drained_loop import MOST_STEPS
from tests.harness.runs.run_systems import ON_KAFKA

pytestmark = ON_KAFKA

HOLES = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.001",
    "max.compaction.lag.ms": "100",
}
KEYS = [f"u{number}" for number in range(12)]


def joining(**table: Any) -> StreamApp:
    """Views with the tier of their user."""
    tiers = {"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": True}], **table}
    looked_up = {"from": "views", "table": "tiers", "type": "left", "select": "user, n, tier"}
    return app(
        {"name": "with", "joinTable": looked_up},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[
            {"name": "views", "key": "user", "columns": "user STRING, n INT"},
            {"name": "users", "key": "user", "columns": "user STRING, tier INT"},
            {"name": "out"},
        ],
        tables=[tiers],
    )


def topic_of(env: AppEnv, kafka: str, partitions: int = 1, **config: str) -> str:
    """The topic of the users, and one with a view of each of them."""
    name = f"{env.prefix}users"
    create(kafka, {name: partitions}, **config)
    views = [{"user": user, "n": n} for n, user in enumerate(KEYS)]
    env.write("views", inputs(views, "user"), 1 if partitions == 1 else 2)
    return name


def write(to: Producer, topic: str, tiers: Mapping[str, int | None], partition: int = 0) -> None:
    for user, tier in tiers.items():
        value = None if tier is None else json.dumps({"user": user, "tier": tier}).encode()
        to.produce(topic, value, user, partition)
        to.poll(0)


def transactional(kafka: str) -> Producer:
    made = producer(kafka, transactional_id=str(uuid4()))
    made.init_transactions(60)
    return made


def seen(env: AppEnv) -> dict[str, int | None]:
    rows = env.rows("out")
    assert len(rows) == len(KEYS)
    return {row["user"]: row.get("tier") for row in rows}


def test_holes_that_compaction_left_hold_up_no_bootstrap(env: AppEnv, kafka: str) -> None:
    """Of thousands of records those stay that are the last of their key, and the newest segment."""
    topic, to = topic_of(env, kafka, **HOLES), producer(kafka, batch_num_messages=100)
    for number in range(300):
        write(to, topic, dict.fromkeys(KEYS, number))
    assert to.flush(60) == 0
    while len(consumed(kafka, topic, 0, 3_600)) > 600:
        write(to, topic, {KEYS[0]: 300})  # a segment is only closed by what is written after its time
        assert to.flush(60) == 0
    env.run(joining())
    assert seen(env) == dict.fromkeys(KEYS, 299) | {KEYS[0]: 300}


@pytest.mark.parametrize("outcome", ["committed", "aborted"])
def test_a_marker_at_the_end_of_a_topic_is_waited_for_by_nobody(
    env: AppEnv, kafka: str, outcome: str
) -> None:
    topic = topic_of(env, kafka)
    plain, to = producer(kafka), transactional(kafka)
    write(plain, topic, dict.fromkeys(KEYS, 1))
    assert plain.flush(60) == 0
    to.begin_transaction()
    write(to, topic, dict.fromkeys(KEYS, 2))
    if outcome == "committed":
        to.commit_transaction(60)
    else:
        to.abort_transaction(60)
    env.run(joining())
    assert seen(env) == dict.fromkeys(KEYS, 2 if outcome == "committed" else 1)


@pytest.mark.parametrize("aborted", [False, True])
def test_a_topic_of_which_nothing_can_be_seen_fills_an_empty_table(
    env: AppEnv, kafka: str, aborted: bool
) -> None:
    """Nothing was ever written, or only what nobody may see, and its marker."""
    topic = topic_of(env, kafka)
    if aborted:
        to = transactional(kafka)
        to.begin_transaction()
        write(to, topic, dict.fromkeys(KEYS, 1))
        to.abort_transaction(60)
    env.run(joining())
    assert set(seen(env).values()) == {None}


def test_a_topic_that_is_written_all_the_time_is_waited_for_up_to_where_it_was_at_the_start(
    env: AppEnv, kafka: str
) -> None:
    topic, to = topic_of(env, kafka), producer(kafka)
    for number in range(20):
        write(to, topic, dict.fromkeys(KEYS, number))
    assert to.flush(60) == 0
    _, ready = env.launched(joining())
    loop = env.loop(CurrentRun.of(ready, batch_rows=60), pause=lambda _: None)
    loop.start()
    number, steps = 20, 0
    while len(env.rows("out")) < len(KEYS):
        for _ in range(10):  # more than a batch reads: the end is never reached
            write(to, topic, dict.fromkeys(KEYS, number))
            number += 1
        assert to.flush(60) == 0
        loop.step()
        steps += 1
        assert steps < MOST_STEPS
    loop.release()
    tiers = set(seen(env).values())
    assert all(tier is not None and tier >= 19 for tier in tiers), "rows went before the table was filled"


@pytest.mark.parametrize("store", ["rocksdb", "memory"])
def test_a_broadcast_table_takes_all_partitions_with_their_deletions(
    env: AppEnv, kafka: str, store: str
) -> None:
    """The last partition is empty, and views have another count."""
    topic, to = topic_of(env, kafka, 3), producer(kafka)
    write(to, topic, dict.fromkeys(KEYS[:6], 1), 0)
    write(to, topic, dict.fromkeys(KEYS[6:], 2), 1)
    write(to, topic, {KEYS[0]: None, KEYS[1]: 7}, 0)
    assert to.flush(60) == 0
    env.run(joining(store=store, broadcast=True))
    expected = dict.fromkeys(KEYS[:6], 1) | dict.fromkeys(KEYS[6:], 2)
    assert seen(env) == expected | {KEYS[0]: None, KEYS[1]: 7}
