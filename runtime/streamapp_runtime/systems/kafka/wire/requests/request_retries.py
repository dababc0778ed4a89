"""The time for which something that fails is tried again."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.backoff import Backoff
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests import error_codes
from streamapp_runtime.systems.kafka.wire.requests.broker_network import BrokerNetwork
from streamapp_runtime.systems.kafka.wire.requests.error_codes import ErrorReaction
from streamapp_runtime.systems.kafka.wire.requests.sasl_login import LoginRefusedError
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    FencedError,
    OutOfRangeError,
    RecordRefusedError,
    TransactionAbortableError,
    UnavailableError,
    UnknownStreamError,
)

CONNECTION_FAILURES = (OSError, MalformedError)
"""What a connection ends with."""

_PAUSE = Backoff(0.01, 0.5)
_HEARSAY = 3.0  # seconds until every broker knows a new topic, be it a busy one
_DOUBT_SECONDS = 2.0
"""How long a broker may say that something goes by: one that was deposed, and does not know, never stops."""
_ANSWER = Backoff(1.0, 8.0)


class UnfinishedRequestError(UnavailableError):
    """A request that was begun cannot be ended; it has to be started again."""


@dataclass(slots=True)
class RequestRetries:
    """One thing that is done, and done again for so many seconds after its last success."""

    doing: str
    seconds: float
    network: BrokerNetwork
    _begun: float = field(init=False)
    _ends: float = field(init=False)
    _failures: int = field(init=False, default=0)  # since the last success

    def __post_init__(self) -> None:
        self.succeeded()

    def succeeded(self) -> None:
        """The time counts from now."""
        self._begun = self.network.now()
        self._ends = self._begun + self.seconds
        self._failures = 0

    @property
    def answer_seconds(self) -> float:
        """The seconds that one of several brokers asked in turn may take to answer: more after each round."""
        return _ANSWER.seconds(self._failures + 1)

    def failed(self, why: object) -> None:
        """Return when it is worth another try, after a pause that grows; else UnavailableError."""
        if isinstance(why, ssl.SSLError) and not isinstance(why, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            raise DeniedError(f"{self.doing}: TLS: {why}; look at what configSecret says") from None
        if isinstance(why, LoginRefusedError):
            raise DeniedError(f"{self.doing}: {why}; {why.mend}") from None
        pause = _PAUSE.seconds(self._failures + 1)
        if self.network.now() + pause > self._ends:
            raise UnavailableError(f"{self.doing}: {why}") from None
        self.network.pause(pause)
        self._failures += 1

    def missing(self, what: object) -> None:
        """Return, after a pause, while brokers may not have heard of it yet; then UnknownStreamError."""
        if self.network.now() > self._begun + _HEARSAY:
            raise UnknownStreamError(f"there is no {what}")
        self.failed(f"there is no {what}")

    def refused(self, code: int) -> ErrorReaction:
        """Return RETRY or LOOK, after a pause, when the error goes by; else raise what it means.

        What has been tried again for some seconds is LOOK.
        """
        reaction = error_codes.error_reaction(code)
        if reaction not in (ErrorReaction.RETRY, ErrorReaction.LOOK):
            raise error_to_raise(code, f"{self.doing}: {error_codes.error_name(code)}")
        self.failed(error_codes.error_name(code))
        return ErrorReaction.LOOK if self.network.now() > self._begun + _DOUBT_SECONDS else reaction


_EXCEPTIONS: Final[Mapping[ErrorReaction, type[Exception]]] = {
    ErrorReaction.FENCED: FencedError,
    ErrorReaction.DENIED: DeniedError,
    ErrorReaction.REFUSED: RecordRefusedError,
    ErrorReaction.ABORT: TransactionAbortableError,
    ErrorReaction.UNKNOWN: UnknownStreamError,
    ErrorReaction.GONE: OutOfRangeError,
}


def error_to_raise(code: int, message: str) -> Exception:
    """The exception to raise for an error that does not go by."""
    reaction = error_codes.error_reaction(code)
    is_denied = reaction is ErrorReaction.DENIED
    hint = "look at the permissions of the app" if is_denied else error_codes.ERROR_HINTS.get(code)
    exception = _EXCEPTIONS.get(reaction, UnfinishedRequestError)
    return exception(f"{message}; {hint}" if hint else message)
