"""The wire by TLS: who is trusted, and who shows a certificate."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.wire_setup import WireSetup, wire_setup
from streamapp_runtime.systems.stream_system import DeniedError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import consumed, created
from tests.harness.kafka.record_contents import numbered
from tests.harness.kafka.secured_broker import certificate


@dataclass(frozen=True, slots=True)
class Fortress:
    """A broker with an open door, one by TLS, and one that asks for a certificate."""

    broker: Broker
    certificate: str
    client: tuple[str, str]


@pytest.fixture(scope="module")
def fortress(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fortress]:
    folder = tmp_path_factory.mktemp("fortress")
    shown, key = certificate(folder, "broker")
    client = certificate(folder, "client")
    (folder / "broker.pem").write_text(key + shown)
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "client.crt"),
        "listener.name.mutual.ssl.client.auth": "required",
    }
    broker = Broker(folder / "broker", settings, {"TLS": "SSL", "MUTUAL": "SSL"})
    broker.start()
    yield Fortress(broker, shown, client)
    broker.stop()


def setup(address: str, **settings: str) -> WireSetup:
    named = {key.replace("_", "."): value for key, value in settings.items()}
    return wire_setup(address, {"security.protocol": "SSL", **named}, 5, BrokerTrouble())


def there_and_back(plain: str, wire: WireSetup) -> None:
    """A transaction by the wire is read by the wire, and by librdkafka at the open door."""
    topic = created(plain)
    writer, reader = wire.producer(topic), wire.reader()
    writer.initialise()
    writer.append(TopicPartition(topic, 0), numbered(0, 20_000, size=40))
    end = writer.commit()[TopicPartition(topic, 0)]
    found = [row for part in reader.read(TopicPartition(topic, 0), 0, end) for row in part.to_pylist()]
    assert [tuple(row.values()) for row in found] == consumed(plain, topic, 0, end)
    assert len(found) == 20_000
    writer.close()
    reader.close()


def test_records_go_by_tls_to_who_is_trusted(fortress: Fortress) -> None:
    wire = setup(fortress.broker.guarded("TLS"), ssl_ca_pem=fortress.certificate)
    there_and_back(fortress.broker.bootstrap, wire)


def test_a_certificate_is_shown_where_one_is_asked_for(fortress: Fortress) -> None:
    shown, key = fortress.client
    wire = setup(
        fortress.broker.guarded("MUTUAL"),
        ssl_ca_pem=fortress.certificate,
        ssl_certificate_pem=shown,
        ssl_key_pem=key,
    )
    there_and_back(fortress.broker.bootstrap, wire)


def test_who_is_not_trusted_is_told_from_who_is_away(fortress: Fortress) -> None:
    wire = setup(fortress.broker.guarded("TLS"), ssl_ca_pem=fortress.client[0])
    with pytest.raises(DeniedError, match="certificate verify failed"):
        wire.producer("w").initialise()


def test_without_the_certificate_that_is_asked_for_nobody_comes_in(fortress: Fortress) -> None:
    wire = setup(fortress.broker.guarded("MUTUAL"), ssl_ca_pem=fortress.certificate)
    with pytest.raises(UnavailableError):
        wire.producer("w").initialise()


def test_a_certificate_for_another_host_is_refused_unless_hosts_do_not_matter(fortress: Fortress) -> None:
    address = fortress.broker.guarded("TLS").replace("127.0.0.1", "localhost")
    wire = setup(address, ssl_ca_pem=fortress.certificate)
    with pytest.raises(DeniedError, match="localhost"):
        wire.producer("w").initialise()
    careless = {"ssl_endpoint_identification_algorithm": "none"}
    there_and_back(fortress.broker.bootstrap, setup(address, ssl_ca_pem=fortress.certificate, **careless))


def test_a_setup_tells_no_secret_when_it_is_printed() -> None:
    found = setup("127.0.0.1:9092", client_id="me", ssl_key_password="correct horse")  # noqa: S106
    assert "horse" not in repr(found)
