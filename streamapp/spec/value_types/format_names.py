"""The formats that values of a stream may have."""

from typing import Final, Literal

FormatName = Literal["json", "avro", "protobuf", "bytes", "string", "columns"]

WITH_REGISTRY: Final[tuple[FormatName, ...]] = ("avro", "protobuf", "json")
"""Those whose schemas may be in a registry."""
