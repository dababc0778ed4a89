"""Messages of intermediate streams as bytes: one byte for the kind, then the user's bytes or JSON."""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from streamapp.control.control_message import (
    EARLIEST,
    NO_BOUND,
    Control,
    EndOfStream,
    Message,
    MessageKind,
    UpstreamTask,
    UserRecord,
    Watermark,
)
from streamapp.durable_forms import CONTROL_MESSAGE, VersionRefusal
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal

_MOST = 2**31 - 1


def encode_message(message: Message) -> bytes | None:
    """The record's value; None for a record of the user's that has none."""
    if isinstance(message, UserRecord):
        return None if message.value is None else bytes([MessageKind.USER]) + message.value
    speaker = message.speaker
    fields: dict[str, object] = {
        "version": CONTROL_MESSAGE.version,
        "taskName": speaker.task,
        "taskCount": speaker.tasks,
        "runId": speaker.run,
        "modelVersion": speaker.model,
    }
    if isinstance(message, Watermark):
        return _sealed(MessageKind.WATERMARK, fields | {"timestamp": message.timestamp})
    return _sealed(MessageKind.END_OF_STREAM, fields | {"stream": message.stream})


def decode_message(value: bytes | None) -> Message | Refusal:
    """The message in a record's value, or why it is none."""
    if value is None:
        return UserRecord(None)
    if not value:
        return _damaged("it is empty, and even a record without data has a byte for its kind")
    if value[0] == MessageKind.USER:
        return UserRecord(value[1:])
    return decode_control_message(value[0], value[1:])


def decode_control_message(kind: int, body: bytes) -> Control | Refusal:
    """The control message of a kind in the bytes behind that kind, or why it is none."""
    form = _FORMS.get(kind)
    if form is None:
        return _damaged(f"its first byte is {kind}; the kinds are 0 (user), 1 (watermark), 2 (end of stream)")
    try:
        document = json.loads(body)
        written = document.get("version") if isinstance(document, dict) else None
        version = CONTROL_MESSAGE.read_version(written, "it")
        if isinstance(version, VersionRefusal) and version.reason is Reason.NEWER_FORMAT:
            hint = "use the version of streamapp that the upstream app runs, or a later one"
            return Refusal(version.reason, _PATH, version.message, hint)
        return form.model_validate(document).message()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return _damaged(f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": "))
    except (ValueError, RecursionError) as error:
        return _damaged(f"it is no JSON: {error}")


_PATH = "control message"


def _sealed(kind: MessageKind, fields: dict[str, object]) -> bytes:
    return bytes([kind]) + json.dumps(fields, separators=(",", ":")).encode()


def _damaged(what: str) -> Refusal:
    return Refusal(
        Reason.DAMAGED_DATA,
        _PATH,
        f"it cannot be read: {what}",
        "only streamapp may write to an intermediate stream; look for another producer of this topic",
    )


class _MessageFields(BaseModel):
    """The fields of both kinds. Those that a later program adds without a new version are passed over."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel)

    version: Annotated[int, Field(ge=1)]
    task_name: str | None
    task_count: Annotated[int, Field(ge=1, le=_MOST)]
    run_id: str = ""
    model_version: Annotated[int, Field(ge=0)] = 0

    def speaker(self) -> UpstreamTask:
        return UpstreamTask(self.task_name, self.task_count, self.run_id, self.model_version)


class _WatermarkFields(_MessageFields):
    timestamp: Annotated[int, Field(ge=EARLIEST, le=NO_BOUND)]

    def message(self) -> Watermark:
        return Watermark(self.speaker(), self.timestamp)


class _EndFields(_MessageFields):
    stream: str

    def message(self) -> EndOfStream:
        return EndOfStream(self.speaker(), self.stream)


_FORMS: dict[int, type[_WatermarkFields] | type[_EndFields]] = {
    MessageKind.WATERMARK: _WatermarkFields,
    MessageKind.END_OF_STREAM: _EndFields,
}
