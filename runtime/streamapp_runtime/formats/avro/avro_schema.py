"""The Avro schema of a column list, for streams that bring none of their own."""

from itertools import count
from typing import Any

import pyarrow as pa

from streamapp_runtime.formats.arrow_types import UnknownTypeError

Schema = dict[str, Any] | list[Any] | str

_TIMES = "timestamp-micros"


def avro_schema(columns: pa.Schema, name: str = "Value") -> Schema:
    """A record of nullable fields in the columns' order."""
    numbers = count(1)
    return _record(name, list(columns), numbers)


def _record(name: str, fields: list[pa.Field], numbers: "count[int]") -> Schema:
    parts = [
        {"name": field.name, "type": ["null", _schema(field.type, numbers)], "default": None}
        for field in fields
    ]
    return {"type": "record", "name": name, "fields": parts}


def _schema(kind: pa.DataType, numbers: "count[int]") -> Schema:
    if pa.types.is_list(kind):
        return {"type": "array", "items": ["null", _schema(kind.value_type, numbers)]}
    if pa.types.is_map(kind):
        if not pa.types.is_string(kind.key_type):
            raise UnknownTypeError(f"{kind} cannot be written as Avro, whose maps have texts as keys")
        return {"type": "map", "values": ["null", _schema(kind.item_type, numbers)]}
    if pa.types.is_struct(kind):
        return _record(f"Record{next(numbers)}", list(kind), numbers)
    return _simple(kind)


def _simple(kind: pa.DataType) -> Schema:
    if pa.types.is_timestamp(kind):
        return {"type": "long", "logicalType": _TIMES if kind.tz else f"local-{_TIMES}"}
    if pa.types.is_date(kind):
        return {"type": "int", "logicalType": "date"}
    if pa.types.is_decimal(kind):
        digits = {"precision": kind.precision, "scale": kind.scale}
        return {"type": "bytes", "logicalType": "decimal", **digits}
    return _PLAIN[kind]


_PLAIN = {
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "bytes",
}
