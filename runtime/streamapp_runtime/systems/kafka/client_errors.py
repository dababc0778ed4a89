"""The errors of librdkafka's admin client, as the engine calls them."""

import re

from confluent_kafka import KafkaError, KafkaException

from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction, error_reaction
from streamapp_runtime.systems.kafka.wire.requests.request_retries import error_to_raise
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    UnavailableError,
    UnknownStreamError,
)

_DENIED = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.ILLEGAL_SASL_STATE,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.SECURITY_DISABLED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
    }
)
_UNKNOWN = frozenset(
    {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}
)
_CONNECTION = re.compile(
    r"(?:\w+://)?(?P<broker>[^/]+)/[^:]+: (?:Connect to \S+ failed: )?(?P<reason>.*?)(?: \(after .*\))?"
)


def is_denied(error: KafkaError) -> bool:
    """True if the cluster refuses who asks, not what is asked."""
    return error.code() in _DENIED


def kafka_error(error: KafkaException) -> KafkaError:
    """The error inside of what a client raises."""
    inner = error.args[0]
    return inner if isinstance(inner, KafkaError) else KafkaError(KafkaError._FAIL, str(inner))


def connection_failure(text: str) -> str:
    """The broker and the reason of a failed connection, as librdkafka tells of it."""
    match = _CONNECTION.fullmatch(text)
    return f"{match['broker']}: {match['reason']}" if match else text


def translate_error(error: KafkaError, doing: str, denied: str = "") -> Exception:
    """The exception to raise where `doing` failed; `denied` is why the cluster lets no client in."""
    code, message = error.code(), f"{doing}: {error.str()} ({error.name()})"
    if code in _UNKNOWN:
        return UnknownStreamError(message)
    if error_reaction(code) is ErrorReaction.REFUSED:
        return error_to_raise(code, message)
    if code in _DENIED:
        return DeniedError(f"{message}; look at the permissions of the app, and at what configSecret says")
    if denied:
        return DeniedError(
            f"{doing}: the cluster refuses the connection: {denied}; look at what configSecret says"
        )
    return UnavailableError(message)
