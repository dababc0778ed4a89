"""The rule for versions of durable forms: a reader takes those from 1 to its own, and refuses newer ones."""

from dataclasses import dataclass

from streamapp.spec.reasons import Reason

UPGRADE_HINT = "use the version of streamapp that wrote it, or a later one"
"""What to do about bytes that a later program wrote."""


@dataclass(frozen=True, slots=True)
class VersionRefusal:
    """Why bytes of this version are not read, and what would mend it."""

    reason: Reason
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


def read_version(version: object, newest: int, what: str, called: str = "format") -> int | VersionRefusal:
    """The version in which something is written, for a reader that knows the versions 1 to `newest`."""
    if type(version) is not int or version < 1:
        return VersionRefusal(Reason.DAMAGED_DATA, f"{what} cannot be read: its {called} is {version!r}")
    if version > newest:
        message = f"{what} is written in {called} {version}; this version reads {called} {newest}"
        if newest > 1:
            message = f"{what} is written in {called} {version}; this version reads {called}s 1 to {newest}"
        return VersionRefusal(Reason.NEWER_FORMAT, message, UPGRADE_HINT)
    return version
