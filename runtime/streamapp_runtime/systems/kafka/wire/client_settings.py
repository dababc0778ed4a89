"""The client settings of an app, read for the engine's own client.

All that an app may say is followed here, or has no meaning for this client. A setting that is missing in the
table fails the import.
"""

import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from streamapp.spec.resource.kafka_settings import (
    ALLOWED,
    FUNCTION_FORM,
    MECHANISMS,
    NOT_FOR_BROKERS,
    OAUTH_ENDPOINT,
    PROTOCOLS,
    TOKEN_FUNCTION,
)
from streamapp.spec.value_types.scalars import is_python_reference
from streamapp_runtime.systems.kafka.wire.batch_format.compression import Compression, CompressionCodec
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import PLAINTEXT, ConnectionSettings
from streamapp_runtime.systems.kafka.wire.requests.broker_names import AddressFamily
from streamapp_runtime.systems.kafka.wire.requests.fetch_request import DEFAULT_LIMITS, FetchLimits
from streamapp_runtime.systems.kafka.wire.requests.oauth_tokens import (
    ClientCredentials,
    TokenFunction,
    TokenSource,
)
from streamapp_runtime.systems.kafka.wire.requests.sasl_login import (
    SaslLogin,
    oauth_login,
    plain_login,
    scram_login,
)
from streamapp_runtime.systems.stream_system import InvalidSettingsError

C = TypeVar("C", bound=Enum)

_UNBATCHED: Final = 500  # bytes of a request beside the batch, as brokers count
_BUFFERS = {
    "socket.receive.buffer.bytes": socket.SO_RCVBUF,
    "socket.send.buffer.bytes": socket.SO_SNDBUF,
}
_FOLLOWED = frozenset(_BUFFERS) | {
    "batch.size",
    "broker.address.family",
    "client.id",
    "client.rack",
    "compression.level",
    "compression.type",
    "connections.max.idle.ms",
    "fetch.max.bytes",
    "max.partition.fetch.bytes",
    "message.max.bytes",
    "receive.message.max.bytes",
    "sasl.mechanism",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.extensions",
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.scope",
    OAUTH_ENDPOINT,
    TOKEN_FUNCTION,
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "socket.connection.setup.timeout.ms",
    "socket.timeout.ms",
    "ssl.ca.pem",
    "ssl.certificate.pem",
    "ssl.cipher.suites",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.password",
    "ssl.key.pem",
    "transaction.timeout.ms",
}
_WITHOUT_MEANING = frozenset({"client.dns.lookup", "linger.ms", "metadata.max.age.ms"})
"""This client tries each address of a name, sends when it is asked to, and looks for leaders when needed."""

if ALLOWED - NOT_FOR_BROKERS != _FOLLOWED | _WITHOUT_MEANING:
    differing = (ALLOWED - NOT_FOR_BROKERS) ^ (_FOLLOWED | _WITHOUT_MEANING)
    raise AssertionError(f"client settings: {sorted(differing)}")


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The settings of connections, of writers and of readers."""

    connection: ConnectionSettings = field(repr=False)
    compression: Compression
    largest_batch: int
    transaction_timeout_ms: int
    fetch: FetchLimits


def client_settings(settings: Mapping[str, str], timeout: float) -> ClientSettings:
    """The settings, each with its default; InvalidSettingsError where one makes no sense."""
    largest_request = _number(settings, "message.max.bytes", 1_000_000)
    return ClientSettings(
        _connection(settings, timeout),
        _compression(settings),
        min(largest_request, _number(settings, "batch.size", largest_request)) - _UNBATCHED,
        _number(settings, "transaction.timeout.ms", 60_000),
        FetchLimits(
            _number(settings, "max.partition.fetch.bytes", DEFAULT_LIMITS.partition),
            _number(settings, "fetch.max.bytes", DEFAULT_LIMITS.answer),
            settings.get("client.rack", ""),
        ),
    )


def _connection(settings: Mapping[str, str], timeout: float) -> ConnectionSettings:
    protocol = settings.get("security.protocol", "plaintext").lower()
    if protocol.upper() not in PROTOCOLS:
        raise InvalidSettingsError(f"security.protocol: write one of {', '.join(PROTOCOLS).lower()}")
    idle_ms = _number(settings, "connections.max.idle.ms", 0)
    return ConnectionSettings(
        tls=tls_context(settings) if protocol.endswith("ssl") else None,
        login=_login(settings) if protocol.startswith("sasl") else None,
        timeout=_number(settings, "socket.timeout.ms", int(1000 * timeout)) / 1000,
        connect_seconds=_number(
            settings,
            "socket.connection.setup.timeout.ms",
            int(1000 * PLAINTEXT.connect_seconds),
        )
        / 1000,
        idle_seconds=idle_ms / 1000 if idle_ms else None,
        client=settings.get("client.id", PLAINTEXT.client),
        family=_chosen(settings, "broker.address.family", AddressFamily.ANY),
        largest_answer=_number(settings, "receive.message.max.bytes", PLAINTEXT.largest_answer),
        buffer_sizes={
            option: size for name, option in _BUFFERS.items() if (size := _number(settings, name, 0))
        },
    )


def _compression(settings: Mapping[str, str]) -> Compression:
    codec = _chosen(settings, "compression.type", CompressionCodec.NONE)
    level = (
        None
        if settings.get("compression.level") in (None, "-1")
        else _number(settings, "compression.level", 0)
    )
    try:
        return Compression(codec, level)
    except ValueError as error:
        raise InvalidSettingsError(f"compression.level: {error}") from None


def _login(settings: Mapping[str, str]) -> SaslLogin:
    mechanism = _named(settings, "sasl.mechanism").upper()
    match mechanism:
        case "PLAIN":
            return plain_login(_named(settings, "sasl.username"), _named(settings, "sasl.password"))
        case "SCRAM-SHA-256" | "SCRAM-SHA-512":
            user, password = _named(settings, "sasl.username"), _named(settings, "sasl.password")
            return scram_login(mechanism, user, password)
        case "OAUTHBEARER":
            return _oauth(settings)
        case _:
            raise InvalidSettingsError(f"sasl.mechanism: write one of {', '.join(MECHANISMS)}")


def _oauth(settings: Mapping[str, str]) -> SaslLogin:
    return oauth_login(_tokens(settings).token, oauth_extensions(settings))


def _tokens(settings: Mapping[str, str]) -> TokenSource:
    if TOKEN_FUNCTION in settings:
        return TokenSource(token_function(settings).fetch)
    if settings.get("sasl.oauthbearer.method", "").lower() != "oidc":
        raise InvalidSettingsError(
            'sasl.oauthbearer.method: write "oidc", for tokens that an endpoint gives out, '
            f"or set {TOKEN_FUNCTION}"
        )
    endpoint = _named(settings, OAUTH_ENDPOINT)
    if not endpoint.startswith(("https://", "http://")):
        raise InvalidSettingsError(f"{OAUTH_ENDPOINT}: write a URL such as https://login.example.com/token")
    client = ClientCredentials(
        endpoint,
        _named(settings, "sasl.oauthbearer.client.id"),
        _named(settings, "sasl.oauthbearer.client.secret"),
        settings.get("sasl.oauthbearer.scope", ""),
    )
    return TokenSource(client.fetch)


def token_function(settings: Mapping[str, str]) -> TokenFunction:
    """The function that gives tokens, beside which no endpoint does."""
    python = settings[TOKEN_FUNCTION].strip()
    if not is_python_reference(python):
        raise InvalidSettingsError(f"{TOKEN_FUNCTION}: {FUNCTION_FORM}")
    if settings.get("sasl.oauthbearer.method", "default").lower() != "default":
        raise InvalidSettingsError(
            f"sasl.oauthbearer.method: leave it out, since {TOKEN_FUNCTION} gives the tokens"
        )
    return TokenFunction(python)


def oauth_extensions(settings: Mapping[str, str]) -> Mapping[str, str]:
    """The pairs that are sent with a token."""
    extensions = dict[str, str]()
    for pair in filter(None, settings.get("sasl.oauthbearer.extensions", "").split(",")):
        name, equals, value = pair.strip().partition("=")
        if not (equals and name.isalpha() and value.isprintable()):
            raise InvalidSettingsError(
                "sasl.oauthbearer.extensions: write pairs such as cluster=one,pool=two"
            )
        extensions[name] = value
    return extensions


def _named(settings: Mapping[str, str], name: str) -> str:
    """A setting that has to be there."""
    value = settings.get(name, "")
    if not value:
        raise InvalidSettingsError(f"{name} is missing, which security.protocol and sasl.mechanism ask for")
    return value


def _number(settings: Mapping[str, str], name: str, default: int) -> int:
    text = settings.get(name, str(default)).strip()
    if not (text.isascii() and text.isdecimal()):
        raise InvalidSettingsError(f"{name}: write a whole number that is not negative")
    return int(text)


def _chosen(settings: Mapping[str, str], name: str, default: C) -> C:
    """One of the members of an enumeration, by its name."""
    members = {member.name.lower(): member for member in type(default)}
    text = settings.get(name, default.name).strip().lower()
    if text not in members:
        raise InvalidSettingsError(f"{name}: write one of {', '.join(members)}")
    return members[text]


def tls_context(settings: Mapping[str, str]) -> ssl.SSLContext:
    """The TLS of connections; InvalidSettingsError where a certificate or a key is none."""
    try:
        context = ssl.create_default_context(cadata=settings.get("ssl.ca.pem"))
    except (OSError, ValueError):
        raise InvalidSettingsError("ssl.ca.pem: these are no certificates, as PEM") from None
    if settings.get("ssl.endpoint.identification.algorithm", "https").lower() == "none":
        context.check_hostname = False
    if "ssl.cipher.suites" in settings:
        try:
            context.set_ciphers(settings["ssl.cipher.suites"])
        except ssl.SSLError:
            raise InvalidSettingsError("ssl.cipher.suites: OpenSSL knows none of these") from None
    if "ssl.certificate.pem" in settings:
        try:
            _identify(context, settings)
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", "") or "not both are PEM"
            raise InvalidSettingsError(f"ssl.certificate.pem and ssl.key.pem: {reason}") from None
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
