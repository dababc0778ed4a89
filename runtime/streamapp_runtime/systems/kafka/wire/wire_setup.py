"""The readers and writers of one cluster, made by its client settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp_runtime.systems.kafka.wire.client_settings import ClientSettings, client_settings
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.wire_arrivals import WireArrivals
from streamapp_runtime.systems.kafka.wire.wire_offsets import WireOffsets
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader


@dataclass(frozen=True, slots=True)
class WireSetup:
    """Makes readers and writers of one cluster."""

    bootstrap: str
    settings: ClientSettings
    trouble: BrokerTrouble = field(repr=False)

    def reader(self) -> WireReader:
        """A reader of committed records."""
        settings = self.settings
        return WireReader(self.bootstrap, settings.connection, limits=settings.fetch, trouble=self.trouble)

    def offsets(self) -> WireOffsets:
        """The lookup of the offsets at which partitions begin and end."""
        return WireOffsets(self._pool())

    def arrivals(self) -> WireArrivals:
        """The poller for new records; with connections of its own, on which answers come late."""
        return WireArrivals(self._pool())

    def producer(self, transactional_id: str | None) -> WireProducer:
        """A writer of transactions under this name, which it has still to take over; or of none."""
        return WireProducer(
            self.bootstrap,
            transactional_id,
            self.settings.connection,
            timeout_ms=self.settings.transaction_timeout_ms,
            compression=self.settings.compression,
            largest=self.settings.largest_batch,
            trouble=self.trouble,
        )

    def _pool(self) -> BrokerPool:
        return BrokerPool(self.bootstrap, self.settings.connection, self.trouble)


def wire_setup(
    bootstrap: str, settings: Mapping[str, str], timeout: float, trouble: BrokerTrouble
) -> WireSetup:
    """The setup to reach the cluster; InvalidSettingsError where a setting makes no sense."""
    return WireSetup(bootstrap, client_settings(settings, timeout), trouble)
