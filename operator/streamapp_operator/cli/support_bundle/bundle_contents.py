"""The contents of a bundle before anything in them is hidden, and the parts that could not be read."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from streamapp_operator.controller.client.api_errors import ClusterError, RejectedError

LONGEST_CAUSE: Final = 1_000
"""A proxied server may answer with a page."""
T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class BundleFile:
    """One file: an object of JSON, or a text."""

    name: str
    description: str
    content: Any


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """Something that is not in the bundle, and why."""

    name: str
    cause: str


@dataclass(slots=True)
class BundleContents:
    """The files and the parts that could not be read."""

    files: list[BundleFile] = field(default_factory=list)
    unread: list[UnreadPart] = field(default_factory=list)

    def add(self, name: str, description: str, content: Any) -> None:
        """Add a file."""
        self.files.append(BundleFile(name, description, content))

    def leave_out(self, name: str, cause: str) -> None:
        """Say that a part is not there, and why."""
        self.unread.append(UnreadPart(name, cause[:LONGEST_CAUSE]))

    async def attempt(self, name: str, reading: Awaitable[T], default: D) -> T | D:
        """The value read; the default, with an entry of why, where the API server does not give it."""
        try:
            return await reading
        except RejectedError as error:
            self.leave_out(name, f"{error.code}: {error}")
        except ClusterError as error:
            self.leave_out(name, str(error))
        return default
