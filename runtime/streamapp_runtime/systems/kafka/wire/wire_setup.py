"""Which client settings the wire can follow, and its readers and writers made by them."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp_runtime.systems.kafka.wire.batch_format.compression import CompressionCodec
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import ConnectionSecurity
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import BrokerPool
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.wire_arrivals import WireArrivals
from streamapp_runtime.systems.kafka.wire.wire_offsets import WireOffsets
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.kafka.wire.wire_reader import WireReader

_TLS = {
    "ssl.ca.pem", "ssl.certificate.pem", "ssl.endpoint.identification.algorithm", "ssl.key.password",
    "ssl.key.pem",
}  # fmt: skip
_FOLLOWED = _TLS | {
    "client.id", "compression.type", "message.max.bytes", "security.protocol", "transaction.timeout.ms",
}  # fmt: skip
_WITHOUT_MEANING = {"linger.ms", "metadata.max.age.ms"}
"""The wire sends when it is asked to, and looks for leaders when it has to."""
_UNBATCHED = 500  # bytes of a request beside the batch, as brokers count


@dataclass(frozen=True, slots=True)
class WireSetup:
    """Makes readers and writers of one cluster."""

    bootstrap: str
    security: ConnectionSecurity = field(repr=False)
    codec: CompressionCodec
    largest: int
    timeout_ms: int
    trouble: BrokerTrouble = field(repr=False)

    def reader(self) -> WireReader:
        """A reader of committed records."""
        return WireReader(self.bootstrap, self.security, trouble=self.trouble)

    def offsets(self) -> WireOffsets:
        """The lookup of the offsets at which partitions begin and end."""
        return WireOffsets(self._pool(), self.security.timeout)

    def arrivals(self) -> WireArrivals:
        """The poller for new records; with connections of its own, on which answers come late."""
        return WireArrivals(self._pool())

    def producer(self, transactional_id: str | None) -> WireProducer:
        """A writer of transactions under this name, which it has still to take over; or of none."""
        return WireProducer(
            self.bootstrap,
            transactional_id,
            self.security,
            timeout_ms=self.timeout_ms,
            codec=self.codec,
            largest=self.largest,
            trouble=self.trouble,
        )

    def _pool(self) -> BrokerPool:
        return BrokerPool(self.bootstrap, self.security, self.trouble)


def wire_setup(
    bootstrap: str, settings: Mapping[str, str], timeout: float, trouble: BrokerTrouble
) -> WireSetup | None:
    """The wire's setup to reach the cluster; None where the settings ask for what the wire cannot do.

    Settings that make no sense are such too: librdkafka then says what is wrong with them.
    """
    if not settings.keys() <= _FOLLOWED | _WITHOUT_MEANING:
        return None
    try:
        protocol = settings.get("security.protocol", "plaintext").lower()
        tls = {"plaintext": lambda _: None, "ssl": _context}[protocol](settings)
        security = ConnectionSecurity(tls, timeout, settings.get("client.id", "streamapp"))
        codec = CompressionCodec[settings.get("compression.type", "none").upper()]
        largest = int(settings.get("message.max.bytes", "1000000")) - _UNBATCHED
        timeout_ms = int(settings.get("transaction.timeout.ms", "60000"))
    except (OSError, KeyError, ValueError):
        return None
    return WireSetup(bootstrap, security, codec, largest, timeout_ms, trouble)


def _context(settings: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=settings.get("ssl.ca.pem"))
    if settings.get("ssl.endpoint.identification.algorithm", "https").lower() == "none":
        context.check_hostname = False
    if "ssl.certificate.pem" in settings:
        _identify(context, settings)
    return context


def _identify(context: ssl.SSLContext, settings: Mapping[str, str]) -> None:
    """Have the context show a certificate. It is only taken from a file: this one lies in memory alone."""
    chain = settings["ssl.certificate.pem"] + "\n" + settings.get("ssl.key.pem", "")
    descriptor = os.memfd_create("certificate")
    try:
        with open(descriptor, "w", encoding="utf-8", closefd=False) as file:
            file.write(chain)
        # Without a password a key that wants one is an error, not a question at the terminal.
        context.load_cert_chain(f"/proc/self/fd/{descriptor}", password=settings.get("ssl.key.password", ""))
    finally:
        os.close(descriptor)
