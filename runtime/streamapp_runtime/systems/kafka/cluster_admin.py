"""The admin client of one cluster: its settings, and what it reports beside its answers.

librdkafka's own log goes nowhere: what goes wrong is said where it is asked for.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from streamapp.spec.resource.kafka_settings import TOKEN_FUNCTION
from streamapp_runtime.systems.kafka.client_errors import (
    connection_failure,
    is_denied,
    kafka_error,
    translate_error,
)
from streamapp_runtime.systems.kafka.wire.client_settings import oauth_extensions, token_function
from streamapp_runtime.systems.kafka.wire.requests.oauth_tokens import TokenFunctionError
from streamapp_runtime.systems.stream_system import DeniedError, UnavailableError

K = TypeVar("K")
T = TypeVar("T")

ANSWER_SECONDS = 15.0
"""How long an answer is waited for before the cluster counts as out of reach."""

CONNECT_SECONDS = 3.0
"""The same of a cluster that has not answered yet, and to none of whose brokers there is a connection."""

_LOOK_SECONDS = 0.1

_FIRST_ANSWER_SECONDS = 1.0
"""A broker that has not answered after so long may have gone: another client asks another one."""

_SILENT = logging.getLogger("streamapp_runtime.systems.kafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_EVERY = {
    "allow.auto.create.topics": False,
    "enable.metrics.push": False,
    "log_level": 0,
    "reconnect.backoff.max.ms": 1_000,
    "reconnect.backoff.ms": 50,
    "retry.backoff.ms": 20,
    "socket.keepalive.enable": True,
    "socket.nagle.disable": True,
}
_OF_RECORDS = frozenset({
    TOKEN_FUNCTION,
    "batch.size",
    "compression.level",
    "compression.type",
    "fetch.max.bytes",
    "linger.ms",
    "max.partition.fetch.bytes",
    "transaction.timeout.ms",
})  # fmt: skip
"""Settings that are no admin client's: it warns of some, and does not know others."""
_DISCONNECTED = frozenset({KafkaError._RESOLVE, KafkaError._TRANSPORT})

_ended_admins: list[AdminClient] = []


def _token_callback(settings: Mapping[str, str]) -> dict[str, Any]:
    """The callback by which the client asks for tokens, where the app has a function for that."""
    if TOKEN_FUNCTION not in settings:
        return {}
    function, extensions = token_function(settings), dict(oauth_extensions(settings))
    try:
        function.given()  # else the client waits for ten seconds, and does not say why it got none
    except TokenFunctionError as error:
        raise DeniedError(f"{error}; {error.mend}") from None
    except OSError as error:
        raise UnavailableError(str(error)) from None
    return {"oauth_cb": lambda _: (*function.given(), "", extensions)}


class _OwnedAdmin:
    """An admin client that no garbage collection destroys.

    Answers come in a thread of the client's own, in which Python may collect garbage. librdkafka ends the
    process that destroys a client there, so that what nobody owns any more waits for a thread of the app.
    """

    def __init__(self, configuration: dict[str, Any]) -> None:
        _ended_admins.clear()
        self.client = AdminClient(configuration)

    def __del__(self) -> None:
        if hasattr(self, "client"):  # its settings were not refused
            _ended_admins.append(self.client)


@dataclass(slots=True)
class ClusterAdmin:
    """The admin client of a cluster, made again when it hangs, and what it said of the cluster last."""

    bootstrap_servers: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    denied: str = ""  # why the cluster lets no client in
    disconnected: str = ""  # why the last connection failed; empty once the cluster has answered
    _has_answered: bool = field(default=False, repr=False)
    _admin: _OwnedAdmin | None = field(default=None, repr=False)

    @property
    def admin(self) -> AdminClient:
        """The client that asks about topics and offsets."""
        if self._admin is None:
            mine = {name: value for name, value in self.settings.items() if name not in _OF_RECORDS}
            brokers = {"bootstrap.servers": self.bootstrap_servers, "error_cb": self.note, "logger": _SILENT}
            self._admin = _OwnedAdmin(_EVERY | mine | brokers | _token_callback(self.settings))
        return self._admin.client

    def asked(
        self, request: "Callable[[AdminClient, float], Mapping[K, Future[T]]]"
    ) -> "Mapping[K, Future[T]]":
        """The answers to a request that may be asked again: of others, where a broker is silent."""
        begun, seconds = time.monotonic(), _FIRST_ANSWER_SECONDS
        while True:
            answers = request(self.admin, seconds)
            self._await(answers.values(), begun)
            if self._is_out_of_reach(begun):
                raise self.failure(_timed_out(), "asking for topics")
            left = begun + ANSWER_SECONDS - time.monotonic()
            if left <= 0 or not any(map(_has_timed_out, answers.values())):
                return answers
            self._admin = None
            seconds = min(2 * seconds, max(left, _FIRST_ANSWER_SECONDS))

    def answer(self, future: "Future[T]", doing: str) -> T:
        """The answer to a question to the cluster; any failure in the engine's terms."""
        try:
            return self.result(future)
        except KafkaException as error:
            raise self.failure(error, doing) from None

    def result(self, future: "Future[T]") -> T:
        """The answer to a question to the cluster; a KafkaException where it fails."""
        self._await([future], time.monotonic())
        try:
            answer = future.result(0)
        except TimeoutError:
            raise _timed_out() from None
        self._has_answered, self.disconnected = True, ""
        return answer

    def topics(self) -> Mapping[str, int]:
        """The partition count of each topic of the cluster."""
        begun, seconds = time.monotonic(), CONNECT_SECONDS
        while True:
            try:
                topics = self.admin.list_topics(timeout=seconds).topics
            except KafkaException as error:
                self.admin.poll(0)
                seconds = begun + ANSWER_SECONDS - time.monotonic()
                if seconds <= 0 or self._is_out_of_reach(begun):
                    raise self.failure(error, "listing topics") from None
            else:
                self._has_answered, self.disconnected = True, ""
                return {name: len(topic.partitions) for name, topic in topics.items()}

    def _await(self, answers: "Iterable[Future[Any]]", begun: float) -> None:
        """Wait until each of these is there, or the cluster is out of reach; the client gives up before."""
        ends = time.monotonic() + 2 * ANSWER_SECONDS
        while wait(answers, _LOOK_SECONDS).not_done:
            self.admin.poll(0)  # what its connections met is told then
            if time.monotonic() > ends or self._is_out_of_reach(begun):
                return

    def _is_out_of_reach(self, begun: float) -> bool:
        """True if no broker could be connected to since a question was asked, nor ever before."""
        if self._has_answered or not (self.disconnected or self.denied):
            return False
        return time.monotonic() > begun + CONNECT_SECONDS

    def failure(self, error: KafkaException, doing: str) -> Exception:
        """The exception to raise where a client failed."""
        if self._admin is not None:
            self._admin.client.poll(0)  # what its connections met is told then
        if kafka_error(error).code() == KafkaError._TIMED_OUT:
            self._admin = None  # it would wait for ever for a controller that is gone: another one looks anew
        if self.disconnected and not self._has_answered and not self.denied:
            return UnavailableError(f"{doing}: no broker can be reached; the last try: {self.disconnected}")
        return translate_error(kafka_error(error), doing, self.denied)

    def note(self, error: KafkaError) -> None:
        """Hear what happens to connections: only one that was refused will not resolve itself."""
        if is_denied(error):
            self.denied = error.str()
        elif error.code() in _DISCONNECTED:
            self.disconnected = connection_failure(error.str())


def _timed_out() -> KafkaException:
    return KafkaException(KafkaError(KafkaError._TIMED_OUT))


def _has_timed_out(answer: "Future[Any]") -> bool:
    """True if the broker that was asked did not answer."""
    error = answer.exception() if answer.done() else None
    return isinstance(error, KafkaException) and kafka_error(error).code() == KafkaError._TIMED_OUT
