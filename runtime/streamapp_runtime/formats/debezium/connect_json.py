"""The records of Connect's converter for JSON Schema, whose schemas say how each value is written.

| column | is read from |
| --- | --- |
| TINYINT, SMALLINT, INT, BIGINT | integer |
| FLOAT, DOUBLE | integer, number |
| BOOLEAN, STRING | boolean, string |
| BINARY | string of `connect.type` bytes, in base64 |
| DATE, TIMESTAMP, TIMESTAMP_NTZ | the titles of Connect and Debezium below |
| DECIMAL | Connect's Decimal: base64 by the scale of its parameters, or a number |
| ARRAY, STRUCT | array, object, part by part |
| MAP<STRING, STRING> | object of strings |

Where nothing says what a number or a text means as a column, the schema is refused with the path.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa

from streamapp.spec.value_types.column_list import MOST_DIGITS, Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.avro.schema_resolution import CONNECT_MEANINGS
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.json import base64_text
from streamapp_runtime.formats.json.json_reader import JsonReader
from streamapp_runtime.formats.json.json_schema_columns import type_name
from streamapp_runtime.formats.json.json_spelling import PLAIN, JsonSpelling
from streamapp_runtime.formats.json.registered_json import JSON, FramedJson
from streamapp_runtime.formats.json.type_conversion import (
    TypeConversion,
    conversion_of,
    list_conversion,
    struct_conversion,
)
from streamapp_runtime.formats.registry.registry_format import Reading, SchemaColumns, held_fields
from streamapp_runtime.formats.value_conversions import decimals
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError

_CONNECT: Final = "org.apache.kafka.connect.data"
_DEBEZIUM: Final = "io.debezium.time"
DECIMAL: Final = f"{_CONNECT}.Decimal"
_INSTANT, _LOCAL, _DAY = pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.date32()
_TEXTS: Final = pa.map_(pa.string(), pa.string())


class _Time(NamedTuple):
    """A time by its title: the type in JSON, the column, and the spelling."""

    type: str
    column: pa.DataType
    spelling: JsonSpelling


TIMES: Final[Mapping[str, _Time]] = {
    f"{_CONNECT}.Date": _Time("integer", _DAY, JsonSpelling(dates="days")),
    f"{_CONNECT}.Timestamp": _Time("integer", _INSTANT, JsonSpelling(timestamps="milliseconds")),
    f"{_DEBEZIUM}.Date": _Time("integer", _DAY, JsonSpelling(dates="days")),
    f"{_DEBEZIUM}.Timestamp": _Time("integer", _LOCAL, JsonSpelling(local_timestamps="milliseconds")),
    f"{_DEBEZIUM}.MicroTimestamp": _Time("integer", _LOCAL, JsonSpelling(local_timestamps="microseconds")),
    f"{_DEBEZIUM}.NanoTimestamp": _Time("integer", _LOCAL, JsonSpelling(local_timestamps="nanoseconds")),
    f"{_DEBEZIUM}.IsoDate": _Time("string", _DAY, JsonSpelling(dates="isostring")),
    f"{_DEBEZIUM}.IsoTimestamp": _Time("string", _LOCAL, JsonSpelling(local_timestamps="isostring")),
    f"{_DEBEZIUM}.ZonedTimestamp": _Time("string", _INSTANT, PLAIN),
}
if TIMES.keys() != CONNECT_MEANINGS.keys():
    raise AssertionError("each time of Connect and Debezium has its row, as in Avro")
_FLOATS: Final = (pa.float32(), pa.float64())
_PLAIN: Final[Mapping[str, Sequence[pa.DataType]]] = {
    "integer": (pa.int64(), pa.int8(), pa.int16(), pa.int32(), *_FLOATS),
    "number": (pa.float64(), pa.float32()),
    "boolean": (pa.bool_(),),
    "string": (pa.string(),),
    "bytes": (pa.binary(),),
}
"""The columns of each type, of which the first one holds all of its values."""
_NARROW: Final[Mapping[str, pa.DataType]] = {
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "float32": pa.float32(),
}
"""The columns of numbers whose type in Connect is narrower than that in JSON."""


def _conversion(schema: Any, kind: pa.DataType, path: str) -> TypeConversion:
    """The reading of values into a column; UnresolvableSchemaError where the column is of another type."""
    schema = described(schema, path)
    name, inside = connect_type(schema, path), schema.get("properties")
    if pa.types.is_struct(kind) and name == "object" and inside is not None:
        return struct_conversion(kind, _parts(inside, kind, path))
    if pa.types.is_list(kind) and name == "array":
        return list_conversion(kind, _conversion(schema.get("items"), kind.value_type, f"{path}[]"))
    if kind == _TEXTS and name == "object" and inside is None:
        _conversion(schema.get("additionalProperties"), pa.string(), f"{path}{{}}")
        return conversion_of(kind)
    title = str(schema.get("title", name))
    time = TIMES.get(title)
    if time and time.type == name and time.column == kind:
        return conversion_of(kind, time.spelling)
    if title == DECIMAL and pa.types.is_decimal(kind):
        return _decimal(schema, name, kind, path)
    if kind not in _PLAIN.get(name, ()):
        raise UnresolvableSchemaError(path, f"{title} is written there as {name}, the column is {kind}")
    return conversion_of(kind)


def _parts(properties: Mapping[str, Any], fields: Iterable[pa.Field], path: str) -> Sequence[TypeConversion]:
    """The reading of each field; one that the schema does not have is null."""
    return [
        _conversion(properties[each.name], each.type, _joined(path, each.name))
        if each.name in properties
        else conversion_of(each.type)
        for each in fields
    ]


def _decimal(schema: Mapping[str, Any], name: str, kind: pa.Decimal128Type, path: str) -> TypeConversion:
    if name == "number":
        return conversion_of(kind)
    convert = decimals(parameter(schema, "scale", path), kind)
    return TypeConversion(pa.string(), lambda texts: convert(base64_text.from_text(texts)))


@dataclass(frozen=True, slots=True)
class _ColumnsOfConnect:
    left_out: dict[str, str] = field(default_factory=dict)

    def type(self, schema: Any, path: str) -> pa.DataType:
        """The column of a schema; UnresolvableSchemaError where none holds it."""
        schema = described(schema, path)
        name, title = connect_type(schema, path), str(schema.get("title"))
        if name == "object" and "properties" in schema:
            empty = "it has no property that a column holds"
            return held_fields(schema["properties"], self.type, path, empty, self.left_out)
        if name == "object":
            _conversion(schema, _TEXTS, path)
            return _TEXTS
        if name == "array":
            return pa.list_(pa.field("element", self.type(schema.get("items"), f"{path}[]")))
        if title in TIMES and TIMES[title].type == name:
            return TIMES[title].column
        if title == DECIMAL and "connect.decimal.precision" in (schema.get("connect.parameters") or {}):
            precision = parameter(schema, "connect.decimal.precision", path)
            if precision <= MOST_DIGITS:
                return pa.decimal128(precision, parameter(schema, "scale", path))
        if title == DECIMAL and name == "number":
            raise UnresolvableSchemaError(path, "it is a decimal whose digits are not said")
        if name not in _PLAIN:
            raise UnresolvableSchemaError(path, f"its type is {name}")
        return _NARROW.get(str(schema.get("connect.type")), _PLAIN[name][0])


def described(schema: Any, path: str) -> Mapping[str, Any]:
    """The schema of values that are no null."""
    branches = schema.get("oneOf", [schema]) if isinstance(schema, dict) else []
    described = [branch for branch in branches if branch != {"type": "null"}]
    if len(described) != 1 or not isinstance(described[0], dict):
        raise UnresolvableSchemaError(path, "it is not of one type")
    if "$ref" in described[0]:
        reference = described[0]["$ref"]
        raise UnresolvableSchemaError(path, f'it refers to "{reference}", which is not read in changes')
    return described[0]


def connect_type(schema: Mapping[str, Any], path: str) -> str:
    """The type of values; of texts that are bytes in base64 it is that of Connect."""
    name = type_name(schema, path)
    return "bytes" if name == "string" and schema.get("connect.type") == "bytes" else name


def parameter(schema: Mapping[str, Any], name: str, path: str) -> int:
    """A number among the parameters that Connect's converter writes."""
    value = str((schema.get("connect.parameters") or {}).get(name))
    try:
        return int(value)
    except ValueError:
        raise UnresolvableSchemaError(path, f"its parameter {name} is no number, but {value}") from None


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _reading(columns: Sequence[Column], _: FormatOptions) -> Reading:
    read = arrow_schema(columns)

    def resolved(registered: RegisteredSchema) -> FramedJson:
        schema = described(json.loads(registered.text), "")
        if type_name(schema, "") != "object":
            raise UnresolvableSchemaError("", "its records are no objects")
        reader = JsonReader(read, conversions=_parts(schema.get("properties") or {}, read, ""))
        return FramedJson(partial(decode_around_bad_records, decode=reader.read))

    return resolved


def _columns(registered: RegisteredSchema) -> SchemaColumns:
    reading = _ColumnsOfConnect()
    kind = reading.type(json.loads(registered.text), "")
    if not pa.types.is_struct(kind):
        raise UnresolvableSchemaError("", f"its records are no objects with properties, but {kind}")
    return SchemaColumns(pa.schema(list(kind)), reading.left_out)


CONNECT_JSON: Final = replace(JSON, reading=_reading, columns=_columns)
"""JSON as the kind of a registry's schemas whose times and decimals are numbers and bytes."""
