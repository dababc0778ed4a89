"""Logins by SASL: the messages of each mechanism, and their exchange when a connection opens.

The mechanisms are written here: each is a page of its standard (RFC 4616, 5802, 7628), and Kafka departs from
what libraries do. It takes user names and passwords as they are, without the normalisation of RFC 4013.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests.error_codes import error_name
from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.kafka.wire.requests.request_versions import (
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    BrokerRequest,
)

SaslMessages = Generator[bytes, bytes, None]
"""The messages of a client; each is sent the broker's answer to the one before."""

AskBroker = Callable[[BrokerRequest, WriteRequest], ResponseReader]
"""Sends a request and gives the answer."""

_ITERATIONS = range(4_096, 1_000_001)
"""How often a broker may have a password hashed: less is too weak, more only holds its clients up."""


class LoginRefusedError(OSError):
    """A cluster, or who gives out its tokens, that does not let the client in."""

    mend = "look at what configSecret says"


@dataclass(frozen=True, slots=True)
class SaslLogin:
    """The mechanism by which a client logs in, and its messages, made for each login."""

    mechanism: str
    messages: Callable[[], SaslMessages]

    def log_in(self, ask: AskBroker, broker: object) -> float | None:
        """Log in by these requests; gives for how many seconds that holds, where the broker bounds it."""
        answer = ask(SASL_HANDSHAKE, lambda body: body.text(self.mechanism))
        if error := answer.int16():
            offered = ", ".join(sorted(str(name) for name in answer.list(ResponseReader.text)))
            reason = f"it offers {offered}" if offered else "its listener has none"
            raise LoginRefusedError(f"{broker} takes no login by {self.mechanism}: {reason}")
        messages = self.messages()
        message = next(messages)
        while True:
            answer = ask(SASL_AUTHENTICATE, partial(RequestBody.octets, parts=[message]))
            error, text = answer.int16(), answer.text()
            octets, begin, end = answer.octets()
            if error:
                why = text or error_name(error)
                raise LoginRefusedError(f"{broker} refuses the login by {self.mechanism}: {why}")
            lifetime_ms = answer.int64()
            try:
                message = messages.send(octets[begin:end].tobytes())
            except StopIteration:
                return lifetime_ms / 1000 if lifetime_ms > 0 else None


def plain_login(user: str, password: str) -> SaslLogin:
    """The login that shows the password itself (RFC 4616)."""

    def messages() -> SaslMessages:
        yield f"\0{user}\0{password}".encode()

    return SaslLogin("PLAIN", messages)


def scram_login(mechanism: str, user: str, password: str) -> SaslLogin:
    """The login in which both sides prove that they know the password (RFC 5802)."""

    def messages() -> SaslMessages:
        return scram_messages(_SCRAM_HASHES[mechanism], user, password, secrets.token_urlsafe(24))

    return SaslLogin(mechanism, messages)


def oauth_login(token: Callable[[], str], extensions: Mapping[str, str]) -> SaslLogin:
    """The login by a token (RFC 7628), which is asked for at each login."""

    def messages() -> SaslMessages:
        pairs = "".join(f"{name}={value}\x01" for name, value in extensions.items())
        refusal = yield f"n,,\x01auth=Bearer {token()}\x01{pairs}\x01".encode()
        if refusal:
            yield b"\x01"  # so that the broker says in words why
            raise LoginRefusedError(f"the token is refused: {refusal.decode(errors='replace')}")

    return SaslLogin("OAUTHBEARER", messages)


_SCRAM_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


def scram_messages(algorithm: str, user: str, password: str, nonce: str) -> SaslMessages:
    """The messages of one login, known by its nonce."""
    name = user.replace("=", "=3D").replace(",", "=2C")
    first = f"n={name},r={nonce}"
    challenge = yield f"n,,{first}".encode()
    salt, iterations, both_nonces = _scram_challenge(challenge, nonce)
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    last = f"c=biws,r={both_nonces}"  # "n,,", encoded
    signed = b",".join([first.encode(), challenge, last.encode()])
    signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), signed, algorithm)
    proof = bytes(key ^ mask for key, mask in zip(client_key, signature, strict=True))
    answer = yield f"{last},p={base64.b64encode(proof).decode()}".encode()
    server_key = hmac.digest(salted, b"Server Key", algorithm)
    expected = base64.b64encode(hmac.digest(server_key, signed, algorithm))
    if not hmac.compare_digest(answer, b"v=" + expected):
        raise LoginRefusedError("the broker does not prove that it knows the password")


def _scram_challenge(challenge: bytes, nonce: str) -> tuple[bytes, int, str]:
    """The salt, the iterations, and the nonce of both sides."""
    try:
        fields = dict(part.split("=", 1) for part in challenge.decode().split(","))
        salt, iterations = base64.b64decode(fields["s"], validate=True), int(fields["i"])
        both_nonces = fields["r"]
    except (ValueError, KeyError, binascii.Error):
        raise MalformedError("a broker's answer to a login is none") from None
    if not both_nonces.startswith(nonce) or both_nonces == nonce or iterations not in _ITERATIONS:
        raise MalformedError("a broker's answer to a login is not of this login")
    return salt, iterations, both_nonces
