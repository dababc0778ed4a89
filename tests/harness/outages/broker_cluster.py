"""Three brokers that keep a cluster together, each of which can be frozen, killed and cut off."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient

from tests.harness.kafka.broker import LOOPBACK, Broker
from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.jars import TO_BE_KILLED
from tests.harness.machine.network_namespaces import NamespaceNetwork
from tests.harness.machine.processes import until

SIZE = 3
_MEMBERS_SECONDS: Final = 60.0
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
    CUT_OFF = "cut off"


class BrokerCluster:
    """Three nodes, each broker and controller, with a copy of each partition; two make a quorum."""

    def __init__(self, home: Path, network: NamespaceNetwork | None = None) -> None:
        """Without a `network` of namespaces all are on loopback, and none can be cut off."""
        self._network = network
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
            case BrokerFault.CUT_OFF:
                assert self._network, "a broker on loopback cannot be cut off"
                self._network.cut(index)

    def end(self, fault: BrokerFault, index: int) -> None:
        match fault:
            case BrokerFault.FROZEN:
                self.brokers[index].thaw()
            case BrokerFault.KILLED:
                self.brokers[index].start()
            case BrokerFault.CUT_OFF:
                assert self._network, "a broker on loopback cannot be cut off"
                self._network.mend(index)

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
