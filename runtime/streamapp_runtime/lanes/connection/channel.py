"""The bytes of a connection on their way: as they are, or encrypted by TLS.

A channel has no socket. What a socket gave goes in by `receive`, and what a socket is to carry comes out of
`outgoing`; so a server that never blocks and a lane that waits use the same one.
"""

import ssl
from contextlib import suppress
from typing import Final, Protocol

from streamapp_runtime.lanes.connection.handshake import ProofError

_READ_BYTES: Final = 1 << 18


class Channel(Protocol):
    """One side of one connection."""

    def send(self, data: bytes) -> None:
        """Add to what the peer is to read."""

    def receive(self, arrived: bytes) -> bytes:
        """Take what a socket gave, and give what the peer has sent; ProofError where it is not the peer."""

    def outgoing(self) -> bytes:
        """The bytes that the socket is to carry now, given once."""


class PlainChannel:
    """Bytes as they are: between processes of one machine, and where an app asks for no encryption."""

    def __init__(self) -> None:
        """Nothing is sent yet."""
        self._unsent = b""

    def send(self, data: bytes) -> None:
        """Add to what the peer is to read."""
        self._unsent = self._unsent + data if self._unsent else data

    def receive(self, arrived: bytes) -> bytes:
        """The bytes as the socket gave them."""
        return arrived

    def outgoing(self) -> bytes:
        """The bytes sent since the last call."""
        unsent, self._unsent = self._unsent, b""
        return unsent


class TlsChannel:
    """Bytes encrypted by TLS 1.3. What is sent before both sides have their keys waits for them."""

    def __init__(self, context: ssl.SSLContext, *, server_side: bool) -> None:
        """Begin the handshake; a client's first message is outgoing at once."""
        self._arrived, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._outgoing, server_side=server_side)
        self._waiting: bytearray | None = bytearray()
        self._shake_hands()

    def send(self, data: bytes) -> None:
        """Encrypt for the peer, now or with the end of the handshake."""
        if self._waiting is not None:
            self._waiting += data
        elif data:
            self._tls.write(data)

    def receive(self, arrived: bytes) -> bytes:
        """Decrypt; ProofError where the peer speaks no TLS, or has not the certificate of this run."""
        self._arrived.write(arrived)
        try:
            return self._decrypted() if self._shake_hands() else b""
        except ssl.SSLError as error:
            raise ProofError(f"a peer without the encryption of this run: {error.reason or error}") from error

    def outgoing(self) -> bytes:
        """The bytes encrypted since the last call, and those that the handshake has to send."""
        return self._outgoing.read()

    def _shake_hands(self) -> bool:
        """True if the handshake is over, as far as the bytes that have arrived lead."""
        if self._waiting is None:
            return True
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        waiting, self._waiting = bytes(self._waiting), None
        self.send(waiting)
        return True

    def _decrypted(self) -> bytes:
        parts = list[bytes]()
        with suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            while part := self._tls.read(_READ_BYTES):
                parts.append(part)
        return b"".join(parts)


def client_channel(certificate: str) -> Channel:
    """The channel to the server that has this certificate and no other; a plain one where there is none."""
    if not certificate:
        return PlainChannel()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the certificate itself is the name: no other is trusted
    context.load_verify_locations(cadata=certificate)
    return TlsChannel(context, server_side=False)
