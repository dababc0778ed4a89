"""A leader that was deposed, and has not heard of it, answers clients by what it knew before.

A broker that was frozen is such a leader for some tenths of a second after it goes on, and one that is cut
off from the other brokers, though not from clients, for as long as that lasts.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial

import pytest
from confluent_kafka.admin import AdminClient

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.clients import QUIET
from tests.harness.machine.network_namespaces import network_or_skip
from tests.harness.machine.processes import until
from tests.harness.outages.broker_cluster import SIZE, BrokerCluster, in_time

OWNER = "app.checkpoint"
BEFORE, AFTER = b"before", b"after"
CHECKPOINTS = TopicPartition(OWNER, 0)
TASK = b"task-0"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, kafka_jars: object) -> Iterator[BrokerCluster]:
    home = tmp_path_factory.mktemp("brokers")
    with network_or_skip(SIZE) as network, closing(BrokerCluster(home, network)) as brokers:
        brokers.start()
        yield brokers


def _leader(bootstrap: str) -> int:
    """Who leads the checkpoints, as these brokers say: its place in the cluster."""
    topics = AdminClient({"bootstrap.servers": bootstrap, **QUIET}).list_topics(OWNER, 30).topics
    return int(topics[OWNER].partitions[0].leader) - 1


def _put(system: KafkaSystem, incarnation: int, expected: bytes | None, value: bytes) -> int:
    """Write a checkpoint; gives the offset behind it."""
    transaction = system.begin(OWNER, incarnation, {TASK: expected}, "lane")
    transaction.put(OWNER, TASK, value)
    return transaction.commit()[CHECKPOINTS]


@pytest.mark.long
@pytest.mark.timeout(1_200)  # a third of the time the controller is cut off too, and brokers wait for it
def test_what_a_deposed_leader_does_not_know_is_not_taken_for_the_newest(cluster: BrokerCluster) -> None:
    with ExitStack() as systems:
        one = systems.enter_context(closing(KafkaSystem(cluster.bootstrap)))
        in_time(partial(one.create, OWNER, 1, StreamOptions(compacted=True)))
        # Each broker gets ids for producers from the controller. Later it may wait for one that is cut off.
        in_time(partial(one.interrupt, OWNER, [f"early-{number}" for number in range(12)]))
        in_time(partial(_put, one, 1, None, BEFORE))
        deposed = _leader(cluster.bootstrap)
        others = [broker.bootstrap for index, broker in enumerate(cluster.brokers) if index != deposed]
        addresses = ",".join([cluster.brokers[deposed].bootstrap, *others])
        misled = systems.enter_context(closing(KafkaSystem(addresses)))

        cluster.separate(deposed)
        until(lambda: _leader(others[0]) != deposed, limit=60)
        with closing(KafkaSystem(",".join(others))) as another:
            in_time(partial(another.fence, OWNER, 2, ["lane"]))
            end = in_time(partial(_put, another, 2, BEFORE, AFTER))
        # What this test is about: whoever asks the deposed leader only is told what was.
        assert misled.latest(OWNER)[TASK] == BEFORE
        *_, newest = misled.read(CHECKPOINTS, 0, end)
        assert newest.column("value").to_pylist()[-1] == AFTER, "a range has an end, and is read up to it"

        with pytest.raises(FencedError):
            in_time(partial(misled.begin, OWNER, 1, {TASK: BEFORE}, "late"))
        in_time(partial(misled.fence, OWNER, 3, ["lane", "late"]))
        assert in_time(partial(misled.latest, OWNER))[TASK] == AFTER
        with pytest.raises(FencedError, match="not the expected one"):
            in_time(partial(misled.begin, OWNER, 3, {TASK: BEFORE}, "lane"))
