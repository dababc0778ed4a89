"""The proofs of driver and lane to each other that they know the secret of the run, without telling it.

Each side answers the other's nonce: a proof that was listened to is of no use again. The binding is part of
both proofs, so that a lane of an earlier binding is told apart from one that lies.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.connection.messages import (
    LaneMessageKind,
    MalformedMessageError,
    Message,
    message,
)

PROTOCOL: Final = "lanes/1"
_NONCE_BYTES: Final = 16


class ProofError(Exception):
    """The peer does not know the secret, or speaks another version."""


class FormerBindingError(Exception):
    """The lane belongs to an earlier binding."""


@dataclass(frozen=True, slots=True)
class DriverHandshake:
    """The driver's side, of one connection."""

    address: LaneAddress
    nonce: str = field(default_factory=lambda: secrets.token_hex(_NONCE_BYTES))

    def challenge(self) -> Message:
        """The challenge to a new connection."""
        return message(LaneMessageKind.CHALLENGE, {"protocol": PROTOCOL, "nonce": self.nonce})

    def welcome(self, hello: Message) -> Message:
        """The answer to a lane that has proven itself; ProofError or FormerBindingError to another."""
        fields = _fields_of(hello, LaneMessageKind.HELLO)
        binding, lane_nonce = fields["binding"], fields["nonce"]
        expected = _proof(self.address.secret, "lane", binding, self.nonce, lane_nonce)
        if not hmac.compare_digest(expected, fields["proof"]):
            raise ProofError("a peer does not know the secret of this run")
        if binding != self.address.binding:
            raise FormerBindingError("a lane of an earlier binding")
        proof = _proof(self.address.secret, "driver", binding, self.nonce, lane_nonce)
        return message(LaneMessageKind.WELCOME, {"proof": proof})


@dataclass(frozen=True, slots=True)
class LaneHandshake:
    """The lane's side, of one connection."""

    address: LaneAddress
    nonce: str = field(default_factory=lambda: secrets.token_hex(_NONCE_BYTES))

    def hello(self, challenge: Message) -> Message:
        """The answer to the driver's challenge; ProofError where the driver speaks another version."""
        fields = _fields_of(challenge, LaneMessageKind.CHALLENGE)
        if fields["protocol"] != PROTOCOL:
            raise ProofError(f"the driver speaks {fields['protocol']}, this lane {PROTOCOL}")
        binding = self.address.binding
        proof = _proof(self.address.secret, "lane", binding, fields["nonce"], self.nonce)
        return message(LaneMessageKind.HELLO, {"binding": binding, "nonce": self.nonce, "proof": proof})

    def check(self, challenge: Message, welcome: Message) -> None:
        """ProofError where what answered is not the driver of this run."""
        driver_nonce = _fields_of(challenge, LaneMessageKind.CHALLENGE)["nonce"]
        expected = _proof(self.address.secret, "driver", self.address.binding, driver_nonce, self.nonce)
        if not hmac.compare_digest(expected, _fields_of(welcome, LaneMessageKind.WELCOME)["proof"]):
            raise ProofError("what answers at the driver's address does not know the secret of this run")


_TEXTS: Final = {
    LaneMessageKind.CHALLENGE: ("protocol", "nonce"),
    LaneMessageKind.HELLO: ("binding", "nonce", "proof"),
    LaneMessageKind.WELCOME: ("proof",),
}
"""The fields of each message of the handshake, all of them ASCII texts."""


def _fields_of(received: Message, kind: LaneMessageKind) -> dict[str, str]:
    if received.kind is not kind:
        raise MalformedMessageError(f"{received.kind.name} came where {kind.name} was due")
    fields = received.fields()
    texts = {name: fields.get(name) for name in _TEXTS[kind]}
    if not all(isinstance(text, str) and text.isascii() for text in texts.values()):
        raise MalformedMessageError(f"{kind.name} lacks one of {', '.join(_TEXTS[kind])}")
    return {name: str(text) for name, text in texts.items()}


def _proof(secret: bytes, side: str, binding: str, driver_nonce: str, lane_nonce: str) -> str:
    parts = "\n".join((side, PROTOCOL, binding, driver_nonce, lane_nonce))
    return hmac.new(secret, parts.encode(), sha256).hexdigest()
