"""Three brokers that keep a cluster together, each of which can be frozen, killed and cut off."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

from confluent_kafka.admin import AdminClient

from streamapp_runtime.systems.stream_system import UnavailableError
from tests.harness.kafka.broker import BROKER_SETTINGS, LOOPBACK, Broker
from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.jars import TO_BE_KILLED
from tests.harness.machine.network_namespaces import NamespaceNetwork
from tests.harness.machine.processes import until
from tests.harness.machine.small_disk import SmallDisk

T = TypeVar("T")
SIZE = 3
AGREED_SECONDS: Final = 300.0
_MEMBERS_SECONDS: Final = 60.0
_TRANSACTIONS: Final = "__transaction_state"
_SETTINGS = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "offsets.topic.replication.factor": "3",
    # A follower that does not answer holds up who writes for as long.
    "replica.lag.time.max.ms": "3000",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.timeout.ms": "500",
    "leader.imbalance.check.interval.seconds": "5",
}


class BrokerFault(StrEnum):
    """What befalls a broker."""

    FROZEN = "frozen"
    KILLED = "killed"
    SHUT_DOWN = "shut down"
    CUT_OFF = "cut off"
    DISK_FULL = "disk full"


class BrokerCluster:
    """Three nodes, each broker and controller, with a copy of each partition; two make a quorum."""

    def __init__(
        self,
        home: Path,
        network: NamespaceNetwork | None = None,
        settings: Mapping[str, str] | None = None,
        *,
        small_disks: bool = False,
    ) -> None:
        """Without a `network` of namespaces all are on loopback, and none can be cut off.

        With `small_disks` each has one for its records, which can be filled up; what the controllers know
        is elsewhere.
        """
        self._network = network
        self._stack = ExitStack()
        self.brokers: Sequence[Broker] = [
            Broker(
                home / f"broker-{index + 1}",
                host=network.address(index) if network else LOOPBACK,
                within=network.within(index) if network else (),
                release=TO_BE_KILLED,
            )
            for index in range(SIZE)
        ]
        voters = ",".join(
            f"{index}@{broker.host}:{broker.controller_port}"
            for index, broker in enumerate(self.brokers, start=1)
        )
        for index, broker in enumerate(self.brokers, start=1):
            broker.settings |= _SETTINGS | {"node.id": str(index), "controller.quorum.voters": voters}
            broker.settings |= settings or {}
        self._disks = [self._small_disk(broker) for broker in self.brokers] if small_disks else []

    def _small_disk(self, broker: Broker) -> SmallDisk:
        folder = broker.home / "small"
        broker.settings |= {"log.dirs": str(folder), "metadata.log.dir": str(broker.home / "metadata")}
        disk = SmallDisk(folder)
        self._stack.callback(disk.close)
        return disk

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.bootstrap for broker in self.brokers)

    def start(self) -> None:
        """Start all at once: one alone waits for the others."""
        with ThreadPoolExecutor(SIZE) as pool:
            list(pool.map(Broker.start, self.brokers))
        self._await_members()

    def begin(self, fault: BrokerFault, index: int) -> None:
        match fault:
            case BrokerFault.FROZEN:
                self.brokers[index].freeze()
            case BrokerFault.KILLED:
                self.brokers[index].kill()
            case BrokerFault.SHUT_DOWN:
                self.brokers[index].stop()
            case BrokerFault.CUT_OFF:
                assert self._network, "a broker on loopback cannot be cut off"
                self._network.cut(index)
            case BrokerFault.DISK_FULL:
                self._disks[index].fill()

    def end(self, fault: BrokerFault, index: int) -> None:
        match fault:
            case BrokerFault.FROZEN:
                self.brokers[index].thaw()
            case BrokerFault.KILLED | BrokerFault.SHUT_DOWN:
                self.brokers[index].start()
            case BrokerFault.CUT_OFF:
                assert self._network, "a broker on loopback cannot be cut off"
                self._network.mend(index)
            case BrokerFault.DISK_FULL:
                self._disks[index].free()
                self.brokers[index].kill()  # it has given its folder up, and mostly itself
                self.brokers[index].start()

    def leader(self, topic: str, partition: int = 0, *, asked: int = 0) -> int:
        """The place of who leads a partition, as one of the brokers says; -1 where nobody does."""
        admin = AdminClient({"bootstrap.servers": self.brokers[asked].bootstrap, **QUIET})
        return int(admin.list_topics(topic, 30).topics[topic].partitions[partition].leader) - 1

    def coordinator(self, transactional_id: str) -> int:
        """The place of the coordinator of a writer's transactions, by Java's hash of its name."""
        number = 0
        for unit in transactional_id.encode("ascii"):
            number = 31 * number + unit & 0xFFFFFFFF
        return self.leader(
            _TRANSACTIONS,
            (number & 0x7FFFFFFF) % int(BROKER_SETTINGS["transaction.state.log.num.partitions"]),
        )

    def _await_members(self) -> None:
        """Return when each broker knows all of them: until then some have no copies to give to others."""
        clients = [AdminClient({"bootstrap.servers": each.bootstrap, **QUIET}) for each in self.brokers]
        until(
            lambda: all(len(each.list_topics(timeout=_MEMBERS_SECONDS).brokers) == SIZE for each in clients),
            _MEMBERS_SECONDS,
        )

    def separate(self, index: int) -> None:
        """Cut a broker off from the others, not from clients: it does not hear that it was deposed."""
        assert self._network, "a broker on loopback cannot be separated"
        self._network.separate(index)

    def close(self) -> None:
        """End all as a loss of power would."""
        for broker in self.brokers:
            broker.kill()
        self._stack.close()


def in_time(call: Callable[[], T]) -> T:
    """The result of a call once brokers have agreed on who leads what, as drivers and lanes wait for it."""
    ends = time.monotonic() + AGREED_SECONDS
    while True:
        try:
            return call()
        except UnavailableError:
            if time.monotonic() > ends:
                raise
