"""The formats that values of a stream may have."""

from typing import Literal

FormatName = Literal["json", "avro", "bytes", "string", "columns"]
