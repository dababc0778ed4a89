"""Client settings: what each has the wire do, and which make no sense."""

import socket

import pytest

from streamapp.spec.resource.kafka_settings import TOKEN_FUNCTION
from streamapp_runtime.systems.kafka.wire.batch_format.compression import Compression, CompressionCodec
from streamapp_runtime.systems.kafka.wire.client_settings import client_settings
from streamapp_runtime.systems.kafka.wire.requests.broker_names import AddressFamily
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import FetchLimits
from streamapp_runtime.systems.stream_system import InvalidSettingsError

SASL = {"security.protocol": "SASL_PLAINTEXT"}
OAUTH = {
    **SASL,
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example.com/token",
    "sasl.oauthbearer.client.id": "app",
    "sasl.oauthbearer.client.secret": "horse",
}


def test_each_setting_is_followed() -> None:
    settings = client_settings(
        {
            "batch.size": "200500",
            "broker.address.family": "v4",
            "client.id": "me",
            "client.rack": "a",
            "compression.level": "9",
            "compression.type": "gzip",
            "connections.max.idle.ms": "60000",
            "fetch.max.bytes": "5000",
            "max.partition.fetch.bytes": "4000",
            "message.max.bytes": "300500",
            "receive.message.max.bytes": "6000",
            "socket.connection.setup.timeout.ms": "2500",
            "socket.receive.buffer.bytes": "70000",
            "socket.timeout.ms": "7000",
            "transaction.timeout.ms": "8000",
        },
        15,
    )
    connection = settings.connection
    assert settings.compression == Compression(CompressionCodec.GZIP, 9)
    assert settings.fetch == FetchLimits(4000, 5000, "a")
    assert (settings.largest_batch, settings.transaction_timeout_ms) == (200_000, 8000)
    assert (connection.timeout, connection.connect_seconds, connection.idle_seconds) == (7.0, 2.5, 60.0)
    assert (connection.client, connection.family) == ("me", AddressFamily.V4)
    assert (connection.largest_answer, connection.buffer_sizes) == (6000, {socket.SO_RCVBUF: 70_000})
    assert (connection.tls, connection.login) == (None, None)


def test_without_settings_everything_has_its_default() -> None:
    settings = client_settings({}, 15)
    assert settings.connection.timeout == 15
    assert settings.compression == Compression(CompressionCodec.NONE)
    assert client_settings({"message.max.bytes": "3000500"}, 15).largest_batch == 3_000_000
    assert (
        client_settings({"compression.type": "zstd", "compression.level": "-1"}, 15).compression.level is None
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "scram-sha-512"])
def test_a_password_is_for_its_mechanism(mechanism: str) -> None:
    identity = {"sasl.username": "app", "sasl.password": "horse"}
    login = client_settings(SASL | identity | {"sasl.mechanism": mechanism}, 15).connection.login
    assert login is not None
    assert login.mechanism == mechanism.upper()


def test_settings_that_make_no_sense_are_named_and_their_values_are_not() -> None:
    expected_messages = {
        "security.protocol": ({"security.protocol": "horse"}, "security.protocol: write one of plaintext"),
        "no user": (
            {**SASL, "sasl.mechanism": "PLAIN", "sasl.password": "horse"},
            "sasl.username is missing",
        ),
        "no mechanism": (SASL, "sasl.mechanism is missing"),
        "mechanism": ({**SASL, "sasl.mechanism": "HORSE"}, "sasl.mechanism: write one of"),
        "method": (OAUTH | {"sasl.oauthbearer.method": "horse"}, "sasl.oauthbearer.method"),
        "function": (OAUTH | {TOKEN_FUNCTION: "horse"}, f"{TOKEN_FUNCTION}: write package.module:function"),
        "function and endpoint": (OAUTH | {TOKEN_FUNCTION: "a:b"}, "sasl.oauthbearer.method: leave it out"),
        "endpoint": (OAUTH | {"sasl.oauthbearer.token.endpoint.url": "file:///horse"}, "token.endpoint.url"),
        "extensions": (OAUTH | {"sasl.oauthbearer.extensions": "horse"}, "sasl.oauthbearer.extensions"),
        "authority": ({"security.protocol": "SSL", "ssl.ca.pem": "horse"}, "ssl.ca.pem"),
        "certificate": ({"security.protocol": "SSL", "ssl.certificate.pem": "horse"}, "ssl.certificate.pem"),
        "ciphers": ({"security.protocol": "SSL", "ssl.cipher.suites": "horse"}, "ssl.cipher.suites"),
        "codec": ({"compression.type": "horse"}, "compression.type: write one of none, gzip"),
        "level": ({"compression.type": "gzip", "compression.level": "10"}, "gzip has the levels 1 to 9"),
        "number": ({"message.max.bytes": "horse"}, "message.max.bytes: write a whole number"),
        "negative": ({"socket.timeout.ms": "-1"}, "socket.timeout.ms: write a whole number"),
        "family": ({"broker.address.family": "horse"}, "broker.address.family: write one of any, v4, v6"),
    }
    for case, (settings, message) in expected_messages.items():
        with pytest.raises(InvalidSettingsError) as refusal:
            client_settings(settings, 15)
        assert message in str(refusal.value), case
        assert "horse" not in str(refusal.value).lower(), case


def test_no_secret_is_printed() -> None:
    assert "horse" not in repr(client_settings(OAUTH, 15))
    assert "horse" not in repr(client_settings(OAUTH, 15).connection)
