"""Records of a schema registry, encoded by libraries of others and behind frames of the oracle's own."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from io import BytesIO
from typing import Any, Final

import fastavro
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP_FILE

from tests.oracle.cases.case import Framing, Header, Row
from tests.oracle.cases.column_values import key_text
from tests.oracle.cases.resource_reading import RECORD_NAME
from tests.oracle.cases.schema_texts import ADDED

VALUE_HEADER: Final = "__value_schema_id"
UNKNOWN_ID: Final = 2**31 - 1


def foreign_value(form: str, text: str, row: Row) -> bytes:
    """A row by a schema; the field without a column has a value of its own."""
    return _ENCODERS[form](text, {ADDED: 7, **row})


def foreign_key(form: str, text: str, schema_id: int, key: bytes | None) -> bytes | None:
    """The text of a key that is written by this schema, by itself or as the one field."""
    value = foreign_content(form, text, schema_id, key)
    if isinstance(value, dict):
        (value,) = value.values()
    return key_text(value)


def foreign_content(form: str, text: str, schema_id: int, value: bytes | None) -> Any:
    """The row, or the key, that is written by this schema; ValueError where it says another one."""
    if value is None:
        return None
    frame = b"\0" + schema_id.to_bytes(4)
    if not value.startswith(frame):
        raise ValueError(f"{value!r} does not begin with {frame!r}")
    return _DECODERS[form](text, value.removeprefix(frame))


def framed(value: bytes, schema_id: int, framing: Framing) -> tuple[bytes, tuple[Header, ...]]:
    """A value as it says its schema, and the header that says it instead."""
    frame = b"\0" + (UNKNOWN_ID if framing is Framing.UNKNOWN else schema_id).to_bytes(4)
    match framing:
        case Framing.HEADER:
            return value, ((VALUE_HEADER, frame),)
        case Framing.NONE:
            return b"\x02" + value, ()
        case Framing.CUT:
            return frame[:3], ()
        case Framing.BEFORE | Framing.UNKNOWN:
            return frame + value, ()


def _avro(text: str, row: Row) -> bytes:
    written, schema = BytesIO(), _avro_schema(text)
    names = [field["name"] for field in schema["fields"]]
    fastavro.schemaless_writer(written, schema, {name: row[name] for name in names})
    return written.getvalue()


def _avro_row(text: str, value: bytes) -> Any:
    return fastavro.schemaless_reader(BytesIO(value), _avro_schema(text), None)


def _json_row(_: str, value: bytes) -> Any:
    return json.loads(value)


@cache
def _avro_schema(text: str) -> Any:
    return fastavro.parse_schema(json.loads(text))


def _json(text: str, row: Row) -> bytes:
    return json.dumps({name: _json_value(row[name]) for name in json.loads(text)["properties"]}).encode()


def _json_value(value: Any) -> Any:
    match value:
        case bytes():
            return b64encode(value).decode()
        case Decimal():
            return format(value, "f")
        case date():
            return value.isoformat()
        case Mapping():
            return {name: _json_value(one) for name, one in value.items()}
        case _:
            return value


def _protobuf(text: str, row: Row) -> bytes:
    """The message behind its index: that of the first one is 0."""
    return b"\0" + _filled(_message_class(text)(), row).SerializeToString()


def _filled(message: Message, row: Row) -> Message:
    for field in message.DESCRIPTOR.fields:
        match row[field.name]:
            case None:
                pass
            case datetime() as moment:
                getattr(message, field.name).FromDatetime(moment)
            case Mapping() as fields:
                part = getattr(message, field.name)
                part.SetInParent()
                _filled(part, dict(fields))
            case value:
                setattr(message, field.name, value)
    return message


def _protobuf_row(text: str, value: bytes) -> Row:
    return _fields(_message_class(text).FromString(value.removeprefix(b"\0")))


def _fields(message: Message) -> Row:
    row: Row = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name) if message.HasField(field.name) else None
        match value:
            case Message() if hasattr(
                value, "ToDatetime"
            ):  # a Timestamp, whose class is of this schema alone
                row[field.name] = value.ToDatetime(UTC)
            case Message():
                row[field.name] = _fields(value)
            case _:
                row[field.name] = value
    return row


@cache
def _message_class(text: str) -> type[Message]:
    pool, file = DescriptorPool(), FileDescriptorProto.FromString(b64decode(text))
    pool.AddSerializedFile(TIMESTAMP_FILE.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    made: type[Message] = GetMessageClass(pool.FindMessageTypeByName(RECORD_NAME))
    return made


_ENCODERS: Final[Mapping[str, Callable[[str, Row], bytes]]] = {
    "avro": _avro,
    "json": _json,
    "protobuf": _protobuf,
}
_DECODERS: Final[Mapping[str, Callable[[str, bytes], Any]]] = {
    "avro": _avro_row,
    "json": _json_row,
    "protobuf": _protobuf_row,
}
