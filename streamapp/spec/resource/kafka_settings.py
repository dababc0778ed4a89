"""The client settings of Kafka that an app may say, and those of them that are secret.

What is not on the list may load libraries, run commands, read files of the machine, or is the engine's own.
"""

from collections.abc import Mapping

from streamapp.spec.problem import nearest
from streamapp.spec.value_types.scalars import is_python_reference

REGISTRY_PREFIX = "schema.registry."
"""How settings begin that are of the schema registry of a cluster, as in Confluent's clients."""

_REGISTRY_SECRETS = frozenset(
    {
        f"{REGISTRY_PREFIX}basic.auth.user.info",
        f"{REGISTRY_PREFIX}bearer.auth.token",
        f"{REGISTRY_PREFIX}ssl.key.password",
        f"{REGISTRY_PREFIX}ssl.key.pem",
    }
)
REGISTRY = _REGISTRY_SECRETS | {f"{REGISTRY_PREFIX}ssl.ca.pem", f"{REGISTRY_PREFIX}ssl.certificate.pem"}
"""Settings of the client of the schema registry."""

SECRET = _REGISTRY_SECRETS | {
    "sasl.password",
    "sasl.oauthbearer.client.secret",
    "ssl.key.password",
    "ssl.key.pem",
}
"""What is said only in a Secret, never in the resource."""

TOPICS = frozenset({"replication.factor"})
"""Settings of the topics that the app makes; no client's."""

NOT_FOR_BROKERS = TOPICS | REGISTRY
"""Settings that the clients of brokers do not get."""

OAUTH_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
"""Where a client asks for its token."""

TOKEN_FUNCTION = "sasl.oauthbearer.token.function"  # noqa: S105
"""Code of the app's own that gives a client its token."""
FUNCTION_FORM = "write package.module:function"

ALLOWED = (
    SECRET
    | NOT_FOR_BROKERS
    | {
        "batch.size",
        "broker.address.family",
        "client.dns.lookup",
        "client.id",
        "client.rack",
        "compression.level",
        "compression.type",
        "connections.max.idle.ms",
        "fetch.max.bytes",
        "linger.ms",
        "max.partition.fetch.bytes",
        "message.max.bytes",
        "metadata.max.age.ms",
        "receive.message.max.bytes",
        "sasl.mechanism",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.extensions",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.scope",
        OAUTH_ENDPOINT,
        TOKEN_FUNCTION,
        "sasl.username",
        "security.protocol",
        "socket.connection.setup.timeout.ms",
        "socket.receive.buffer.bytes",
        "socket.send.buffer.bytes",
        "socket.timeout.ms",
        "ssl.ca.pem",
        "ssl.certificate.pem",
        "ssl.cipher.suites",
        "ssl.endpoint.identification.algorithm",
        "transaction.timeout.ms",
    }
)

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("OAUTHBEARER", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
"""Kerberos is not among them: its client runs commands."""

_INSTEAD = {
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.ca.pem, with the certificates themselves",
    "ssl.certificate.location": "ssl.certificate.pem, with the certificate itself",
    "ssl.key.location": "ssl.key.pem, with the key itself",
    "ssl.keystore.location": "ssl.certificate.pem and ssl.key.pem",
    "ssl.truststore.location": "ssl.ca.pem, with the certificates themselves",
    "bootstrap.servers": "bootstrapServers of the system",
}


def refused_settings(settings: Mapping[str, str], *, secret: bool) -> dict[str, str]:
    """Each setting that may not be said there, and why; `secret` where they come from a Secret.

    What is refused is named, its value never: it may be a password under a wrong name.
    """
    reasons = {name: _refused(name, secret=secret) for name in sorted(settings)}
    mechanism = settings.get("sasl.mechanism", MECHANISMS[0]).upper()
    if mechanism not in MECHANISMS:
        reasons["sasl.mechanism"] = f"allowed are {', '.join(MECHANISMS)}"
    if settings.get("security.protocol", PROTOCOLS[0]).upper() not in PROTOCOLS:
        reasons["security.protocol"] = f"allowed are {', '.join(PROTOCOLS)}"
    if TOKEN_FUNCTION in settings and not secret and not is_python_reference(settings[TOKEN_FUNCTION]):
        reasons[TOKEN_FUNCTION] = FUNCTION_FORM
    replication = settings.get("replication.factor", "1")
    if not (replication.isascii() and replication.isdecimal() and int(replication) > 0):
        reasons["replication.factor"] = "write a number of at least 1"
    return {name: why for name, why in reasons.items() if why}


def refused_secret(settings: Mapping[str, str]) -> str:
    """The refusal of the settings in a Secret; empty where nothing is wrong.

    Keys that are no settings are counted and not listed: a Secret may hold anything, under names that tell.
    """
    reasons = refused_settings(settings, secret=True)
    texts = [f"{name}: {why}" for name, why in reasons.items() if name in ALLOWED or name in _INSTEAD]
    if unknown_names := sorted(reasons.keys() - ALLOWED - _INSTEAD.keys()):
        suggestions = {nearest(name, sorted(ALLOWED)) for name in unknown_names}
        meant = "".join(sorted(text for text in suggestions if "did you mean" in text))
        are = "is no client setting" if len(unknown_names) == 1 else "are no client settings"
        texts.append(f"{len(unknown_names)} of its keys {are} that an app may have{meant}")
    return "; ".join(texts)


def _refused(name: str, *, secret: bool) -> str:
    if name in _INSTEAD:
        return f"not allowed; use {_INSTEAD[name]}"
    if name not in ALLOWED:
        return f"not an allowed client setting{nearest(name, sorted(ALLOWED))}"
    if name == TOKEN_FUNCTION and secret:
        return "no secret, but code of the app; name it in the system's config"
    if name in SECRET and not secret:
        return "a secret; put it into the Secret that configSecret names"
    return ""
