"""The fields of a record beside its value, and the type of a column that holds each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class RecordField(StrEnum):
    """A field of a record, by its name in the resource."""

    KEY = "key"
    TIMESTAMP = "timestamp"
    PARTITION = "partition"
    OFFSET = "offset"
    TOPIC = "topic"
    HEADERS = "headers"
    HEADER_LIST = "headerList"


FIELD_TYPES: Final[Mapping[RecordField, str]] = {
    RecordField.KEY: "BINARY",
    RecordField.TIMESTAMP: "TIMESTAMP",
    RecordField.PARTITION: "INT",
    RecordField.OFFSET: "BIGINT",
    RecordField.TOPIC: "STRING",
    RecordField.HEADERS: "MAP<STRING, BINARY>",
    RecordField.HEADER_LIST: "ARRAY<STRUCT<`name`: STRING, `value`: BINARY>>",
}
"""The type of a column of each, as Spark names it; a key that is text is a STRING."""

if FIELD_TYPES.keys() != set(RecordField):
    raise AssertionError("each field of a record has its type")
