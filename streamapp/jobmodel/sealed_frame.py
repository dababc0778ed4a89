"""The frame around stored bytes by which damage, truncation and a later format are told from good bytes.

A frame is a mark of four bytes, a format version, the length of the body, a digest of all of these, and the
body. The frame is the same in every format version, so that the digest can be checked first: a flipped bit in
the version is seen as damage and not taken for a later format.
"""

import hashlib
import struct
from dataclasses import dataclass

from streamapp.durable_forms import DurableForm, VersionRefusal
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.spec.reasons import Reason

_HEAD = struct.Struct("<4sHQ")
_DIGEST = 8
_START = _HEAD.size + _DIGEST


@dataclass(frozen=True, slots=True)
class SealedFrame:
    """One kind of sealed bytes: how it begins, which form it is, and how a refusal of it is raised."""

    mark: bytes
    form: DurableForm
    refusal: type[UnreadableError]

    def close(self, body: bytes) -> bytes:
        """The body in its frame."""
        head = _HEAD.pack(self.mark, self.form.version, len(body))
        return head + _digest(head, body) + body

    def open(self, sealed: bytes) -> bytes:
        """The body out of its frame, exactly as it went in, or a refusal."""
        if len(sealed) < _START:
            raise self.damaged(f"it has {len(sealed)} bytes and even an empty one has {_START}")
        head, digest, body = sealed[: _HEAD.size], sealed[_HEAD.size : _START], sealed[_START:]
        mark, version, length = _HEAD.unpack(head)
        if mark != self.mark:
            raise self.damaged(f"it begins with {mark!r} and not with {self.mark!r}")
        if length != len(body):
            raise self.damaged(f"{len(body)} bytes follow its head, which promises {length}")
        if digest != _digest(head, body):
            raise self.damaged("its checksum differs")
        known = self.form.read_version(version)
        if isinstance(known, VersionRefusal):
            raise self.refusal(known.reason, known.message, known.hint)
        return body

    def damaged(self, what: str) -> UnreadableError:
        """The refusal of bytes that nobody wrote like this."""
        return self.refusal(
            Reason.DAMAGED_DATA, f"the {self.form.name} cannot be read: {what}", "restore it or recreate it"
        )


def _digest(head: bytes, body: bytes) -> bytes:
    return hashlib.sha256(head + body).digest()[:_DIGEST]
