"""The formats that values of a stream may have."""

from typing import Final, Literal

FormatName = Literal["json", "avro", "protobuf", "debezium", "csv", "bytes", "string", "columns"]

WITH_REGISTRY: Final[tuple[FormatName, ...]] = ("avro", "protobuf", "json", "debezium")
"""Those whose schemas may be in a registry."""

KeyFormat = Literal["bytes", "string", "avro", "protobuf", "json"]
REGISTERED_KEYS: Final[tuple[KeyFormat, ...]] = ("avro", "protobuf", "json")
"""The formats of keys that say the id of their schema."""

READ_ONLY: Final[tuple[FormatName, ...]] = ("debezium",)
"""Those of which an app writes nothing."""
WITH_TIMES_AS_NUMBERS: Final[tuple[FormatName, ...]] = ("json", "debezium")
"""Those whose times may be numbers."""
TimestampForm = Literal["text", "seconds", "milliseconds", "microseconds", "nanoseconds", "isostring"]
TIMES_OF_DEBEZIUM: Final[tuple[TimestampForm, ...]] = ("nanoseconds", "isostring")
"""The forms of times that only connectors of Debezium write, by their `time.precision.mode`."""
ENCODED: Final[tuple[FormatName, ...]] = ("avro", "columns")
"""Those whose records are no text, and hold rows by the columns of the stream alone."""
LINES: Final[tuple[FormatName, ...]] = ("json", "debezium", "csv", "string")
"""Those whose records are lines of text."""
