"""The frame of every message: a JSON object that names its kind and format, and is never too large.

Messages grow by addition: a reader leaves fields alone that it does not know. Only a message that an older
reader would misunderstand gets a higher format, and such a reader refuses it.
"""

import json
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from streamapp.durable_forms import MESSAGE, VersionRefusal
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.spec.reasons import Reason

_REWRITE = "have it written again"
MOST_BYTES: Final = 900_000
"""A ConfigMap takes a mebibyte with all that is said about it."""


class MessageUnreadableError(UnreadableError):
    """A message could not be read."""


class MessageTooLargeError(ValueError):
    """A message that no ConfigMap would take: it is not sent at all, for half of one would be believed."""

    reason = Reason.TOO_LARGE

    def __init__(self, kind: str, size: int) -> None:
        self.kind, self.size = kind, size
        self.message = f"the {kind} message takes {size:,} bytes and may take {MOST_BYTES:,}"
        self.hint = "shorten the names of streams, tasks and processors, or run fewer tasks"
        super().__init__(f"{self.message}; {self.hint}")


class MessageForm(BaseModel):
    """The written form of a message or a part of one."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


T = TypeVar("T", bound=MessageForm)


def write_message(kind: str, form: MessageForm) -> str:
    """The text of a message; what equals its default is left out."""
    body = form.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = json.dumps({"kind": kind, "format": MESSAGE.version, **body}, separators=(",", ":"))
    if (size := len(text.encode())) > MOST_BYTES:
        raise MessageTooLargeError(kind, size)
    return text + "\n"


def read_message(kind: str, form: type[T], text: str) -> T:
    """The form in a text that `write` made, or a MessageUnreadableError."""
    try:
        return form.model_validate(_opened(kind, text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise damaged_message(kind, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def damaged_message(kind: str, what: str) -> MessageUnreadableError:
    """The refusal of a text that nobody wrote like this."""
    return MessageUnreadableError(Reason.DAMAGED_DATA, f"the {kind} message cannot be read: {what}", _REWRITE)


def _opened(kind: str, text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged_message(kind, f"it is no JSON: {error}") from None
    if not isinstance(message, dict) or message.get("kind") != kind:
        raise damaged_message(kind, f"it does not say that it is of the kind {kind}")
    version = MESSAGE.read_version(message.get("format"), f"the {kind} message")
    if isinstance(version, VersionRefusal):
        raise MessageUnreadableError(version.reason, version.message, version.hint or _REWRITE)
    return message
