"""The resolution of a writer's schema to the columns of a stream, by Avro's own rules.

| column | is read from |
| --- | --- |
| TINYINT, SMALLINT, INT | int; one that the column has no room for makes the record bad |
| BIGINT | int, long, also those that say they are times |
| FLOAT | float, int, long |
| DOUBLE | float, double, int, long |
| BOOLEAN | boolean |
| STRING | string, enum, bytes that are UTF-8 |
| BINARY | bytes, fixed, string |
| DECIMAL | decimal of the same scale, and of no more digits |
| DATE | date |
| TIMESTAMP | timestamp-millis, -micros, -nanos; texts that Debezium calls ZonedTimestamp |
| TIMESTAMP_NTZ | local-timestamp-millis, -micros, -nanos |
| ARRAY, MAP, STRUCT | array, map, record, part by part |

Fields are found by name, else by an alias of the stream's own schema. One that the writer lacks has the
default of that schema, else it is null. The types of Kafka Connect and Debezium are known by the names
that their converters write beside them. Of a union each branch is resolved: a record that takes one with no
place in the column is bad. Fields without a column are skipped. A type that contains itself is refused
where a column would need it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import fastavro
import pyarrow as pa

from streamapp_runtime.formats.avro.wire_types import (
    WireArray,
    WireBoolean,
    WireBytes,
    WireConversion,
    WireEnum,
    WireFloat,
    WireLong,
    WireMap,
    WireNull,
    WireRecord,
    WireRefusal,
    WireSkipped,
    WireType,
    WireUnion,
)
from streamapp_runtime.formats.value_conversions import (
    cast_to,
    dates,
    decimals,
    of_isostrings,
    rounded_to,
    times,
    times_of_texts,
)
from streamapp_runtime.registered_schema import SchemaDependency, UnresolvableSchemaError

Schema = Any
"""A schema as fastavro parses it: a name, a list of branches, or a mapping."""

UNITS: Final = {"millis": "ms", "micros": "us", "nanos": "ns"}
_PLAIN: Final[Mapping[str, WireType]] = {
    "boolean": WireBoolean(),
    "int": WireLong(narrow=True),
    "long": WireLong(narrow=False),
    "float": WireFloat(pa.float32()),
    "double": WireFloat(pa.float64()),
    "bytes": WireBytes(),
    "string": WireBytes(),
}
INSTANT: Final = pa.timestamp("us", "UTC")
TEXTS_OF_TIMES: Final[Mapping[str, pa.DataType]] = {
    "zoned-timestamp": INSTANT,
    "iso-timestamp": pa.timestamp("us"),
    "iso-date": pa.date32(),
}
"""The columns of texts that Debezium gives a meaning."""
CONNECT_MEANINGS: Final[Mapping[str, str]] = {
    "io.debezium.time.Date": "date",
    "io.debezium.time.Timestamp": "local-timestamp-millis",
    "io.debezium.time.MicroTimestamp": "local-timestamp-micros",
    "io.debezium.time.NanoTimestamp": "local-timestamp-nanos",
    "io.debezium.time.IsoDate": "iso-date",
    "io.debezium.time.IsoTimestamp": "iso-timestamp",
    "io.debezium.time.ZonedTimestamp": "zoned-timestamp",
    "org.apache.kafka.connect.data.Date": "date",
    "org.apache.kafka.connect.data.Timestamp": "timestamp-millis",
}
"""The logical types of names that Connect's converters write without one."""
_PROMOTIONS: Final[Mapping[tuple[str, pa.DataType], bool]] = {
    ("boolean", pa.bool_()): True,
    **{("int", kind): True for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{(kind, column): False for kind in ("int", "long") for column in (pa.float32(), pa.float64())},
    ("long", pa.int64()): True,
    **{("float", column): True for column in (pa.float32(), pa.float64())},
    ("double", pa.float64()): True,
    **{(kind, column): True for kind in ("bytes", "string") for column in (pa.string(), pa.binary())},
}
"""The columns that a type without a meaning of its own is read into; whether exactly."""


@dataclass(frozen=True, slots=True)
class SchemaResolution:
    """The resolution of one writer's schema, whose named types stand beside it."""

    named: Mapping[str, Schema]
    _skipped_records: dict[str, WireSkipped] = field(default_factory=dict)  # by name

    def record(self, writer: Schema, columns: pa.Schema, reader: Schema | None = None) -> WireRecord:
        """The record as the columns; `reader` is the stream's own schema, for its aliases and defaults."""
        writer, within = self._definition(writer, "", ())
        if type_name(writer) != "record":
            raise UnresolvableSchemaError("", f"it is no record but {shown_schema(writer)}")
        return self._record(writer, pa.struct(list(columns)), _of_kind(reader, "record"), "", within)

    def value(self, writer: Schema, kind: pa.DataType) -> WireType:
        """The reading of one type into a column."""
        return self._kept(writer, kind, None, "", ())

    def _kept(
        self, writer: Schema, kind: pa.DataType, reader: Schema, path: str, within: tuple[str, ...]
    ) -> WireType:
        """The reading of a type into a column."""
        if isinstance(writer, list):
            return self._union(writer, kind, reader, path, within)
        writer, within = self._definition(writer, path, within)
        name = type_name(writer)
        if name == "null":
            return WireNull(kind)
        if name == "record" and pa.types.is_struct(kind):
            return self._record(writer, kind, _of_kind(reader, "record"), path, within)
        if name == "array" and pa.types.is_list(kind):
            items = _of_kind(reader, "array").get("items")
            item = self._kept(writer["items"], kind.value_type, items, f"{path}[]", within)
            return WireArray(_with_bytes(item, path), kind)
        if name == "map" and pa.types.is_map(kind) and pa.types.is_string(kind.key_type):
            values = _of_kind(reader, "map").get("values")
            value = self._kept(writer["values"], kind.item_type, values, f"{path}{{}}", within)
            pair = pa.struct([("key", pa.string()), ("value", kind.item_type)])
            return WireMap(WireRecord(((_TEXT, 0), (value, 1)), (), pair), kind)
        wire = _plain(writer, name, kind)
        if wire is None:
            raise UnresolvableSchemaError(
                path, f"{shown_schema(writer)} is written there, the column is {kind}"
            )
        return wire

    def _union(
        self, writer: Sequence[Schema], kind: pa.DataType, reader: Schema, path: str, within: tuple[str, ...]
    ) -> WireType:
        branches: list[WireType] = []
        faults: list[UnresolvableSchemaError] = []
        for branch in writer:
            try:
                branches.append(self._kept(branch, kind, reader, path, within))
            except UnresolvableSchemaError as fault:
                faults.append(fault)
                branches.append(WireRefusal(str(fault), kind))
        if faults and all(isinstance(branch, WireRefusal | WireNull) for branch in branches):
            raise faults[0]
        return WireUnion(tuple(branches), kind)

    def _record(
        self, writer: Schema, kind: pa.StructType, reader: Schema, path: str, within: tuple[str, ...]
    ) -> WireRecord:
        places = {kind.field(place).name: place for place in range(kind.num_fields)}
        own = {field["name"]: field for field in reader.get("fields", ())}
        written = {field["name"] for field in writer["fields"]}
        taken = {
            next(
                (name for name in (column, *own.get(column, {}).get("aliases", ())) if name in written), None
            ): (column)
            for column in places
        }
        fields: list[tuple[WireType, int | None]] = []
        for part in writer["fields"]:
            column, inside = taken.get(part["name"]), _joined(path, part["name"])
            if column is None:
                fields.append((self._skipped(part["type"], inside), None))
                continue
            place = places[column]
            of_reader = own.get(column, {}).get("type")
            fields.append(
                (self._kept(part["type"], kind.field(place).type, of_reader, inside, within), place)
            )
        read = {place for _, place in fields}
        missing = tuple(
            (place, _default(own.get(column, {}), kind.field(place).type, _joined(path, column)))
            for column, place in places.items()
            if place not in read
        )
        return WireRecord(tuple(fields), missing, kind)

    def _skipped(self, writer: Schema, path: str) -> WireType:
        """The reading of a type of which nothing is kept."""
        if isinstance(writer, list):
            return WireUnion(tuple(self._skipped(each, path) for each in writer), pa.null())
        writer = self.named.get(writer, writer) if isinstance(writer, str) else writer
        name = type_name(writer)
        wire = _PLAIN.get(name, WireLong(narrow=True))  # an enum is written as an int
        if name == "null":
            wire = WireNull(pa.null())
        elif name == "fixed":
            wire = WireBytes(writer["size"])
        elif name == "record":
            wire = self._skipped_record(writer, path)
        elif name == "array":
            item = self._skipped(writer["items"], f"{path}[]")
            wire = WireArray(_with_bytes(item, path), pa.list_(pa.null()))
        elif name == "map":
            pair = _skipped_fields(_TEXT, self._skipped(writer["values"], f"{path}{{}}"))
            wire = WireMap(pair, pa.map_(pa.string(), pa.null()))
        return wire

    def _skipped_record(self, writer: Schema, path: str) -> WireSkipped:
        """The same of a record, which is one for all places that it stands at, also within itself."""
        name = writer["name"]
        if name not in self._skipped_records:
            skipped = self._skipped_records[name] = WireSkipped()
            inside = [(part["type"], _joined(path, part["name"])) for part in writer["fields"]]
            record = _skipped_fields(*(self._skipped(kind, at) for kind, at in inside))
            skipped.record, skipped.empty = record, record.empty
        return self._skipped_records[name]

    def _definition(
        self, writer: Schema, path: str, within: tuple[str, ...]
    ) -> tuple[Schema, tuple[str, ...]]:
        """The definition of a type that may be only named, and the names of the types that contain it."""
        writer = self.named.get(writer, writer) if isinstance(writer, str) else writer
        if type_name(writer) != "record":
            return writer, within
        name = writer["name"]
        if name in within:
            raise UnresolvableSchemaError(path, f'"{name}" contains itself, which no column can')
        return writer, (*within, name)


_TEXT: Final = WireConversion(WireBytes(), cast_to(pa.string()), pa.string(), "a text is no valid UTF-8")


def _skipped_fields(*fields: WireType) -> WireRecord:
    return WireRecord(tuple((field, None) for field in fields), (), pa.struct([]))


def _plain(writer: Schema, name: str, kind: pa.DataType) -> WireType | None:
    """The reading of one value into a column; None where the column is of another type."""
    if name == "enum":
        return WireEnum(tuple(writer["symbols"])) if pa.types.is_string(kind) else None
    if name == "fixed" and pa.types.is_binary(kind):
        return WireBytes(writer["size"])
    if name in {"bytes", "fixed"} and pa.types.is_decimal(kind):
        return _decimal(writer, name, kind)
    if name in {"int", "long", "string"} and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return _time(writer, name, kind)
    return _promoted(name, kind)


def _promoted(name: str, kind: pa.DataType) -> WireType | None:
    exact = _PROMOTIONS.get((name, kind))
    if exact is None:
        return None
    wire = _PLAIN[name]
    if pa.types.is_string(kind):
        return _TEXT
    convert = cast_to(kind) if exact else rounded_to(kind)
    return wire if wire.type == kind else WireConversion(wire, convert, kind, f"a number does not fit {kind}")


def _decimal(writer: Schema, name: str, kind: pa.DataType) -> WireType | None:
    if logical_type(writer) != "decimal":
        return None
    if writer.get("scale", 0) != kind.scale or writer["precision"] > kind.precision:
        return None
    wire = WireBytes(writer["size"] if name == "fixed" else None)
    return WireConversion(wire, decimals(kind.scale, kind), kind, f"a decimal does not fit {kind}")


def _time(writer: Schema, name: str, kind: pa.DataType) -> WireType | None:
    meaning, wire, fault = logical_type(writer), _PLAIN[name], "a time is not in the years 1 to 9999"
    if name == "string":
        if TEXTS_OF_TIMES.get(meaning) != kind:
            return None
        if kind == INSTANT:
            convert, fault = partial(times_of_texts, kind=kind), "a text is no time with a zone"
        else:
            what = "date" if pa.types.is_date(kind) else "time"
            convert, fault = partial(of_isostrings, kind=kind), f"a text is no {what}"
        return WireConversion(_TEXT, convert, kind, fault)
    if pa.types.is_date(kind):
        return WireConversion(wire, dates, kind, fault) if (name, meaning) == ("int", "date") else None
    kind_of_time, _, unit = meaning.rpartition("-")
    if name != "long" or unit not in UNITS or kind_of_time != ("timestamp" if kind.tz else "local-timestamp"):
        return None
    return WireConversion(wire, times(UNITS[unit], kind), kind, fault)


def _with_bytes(item: WireType, path: str) -> WireType:
    """The item of an array; those that take no bytes could be any number, in a record of a few bytes."""
    if item.empty:
        raise UnresolvableSchemaError(path, "the items of the array have no content")
    return item


def _default(field: Mapping[str, Any], kind: pa.DataType, path: str) -> pa.Array:
    """The value of a column that the writer lacks."""
    value = field.get("default")
    try:
        if isinstance(value, str) and pa.types.is_binary(kind):
            value = value.encode("latin-1")
        elif isinstance(value, int) and (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
            return pa.array([value]).cast(pa.int32() if pa.types.is_date(kind) else pa.int64()).cast(kind)
        return pa.array([value], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise UnresolvableSchemaError(path, f"its default is no {kind}") from None


def _of_kind(reader: Schema, name: str) -> Mapping[str, Any]:
    """The part of the stream's own schema that is such a type, also as a branch; empty where none is."""
    branches = reader if isinstance(reader, list) else [reader]
    return next((each for each in branches if isinstance(each, dict) and each.get("type") == name), {})


def linked_schema(schema: Schema, dependencies: Iterable[Schema]) -> tuple[Schema, dict[str, Schema]]:
    """The parsed schema, and its named types with those of the schemas that it refers to."""
    named: dict[str, Schema] = {}
    for dependency in dependencies:
        fastavro.parse_schema(dependency, named_schemas=named)
    return fastavro.parse_schema(schema, named_schemas=named), named


def linked_text(text: str, dependencies: Iterable[SchemaDependency]) -> tuple[Schema, dict[str, Schema]]:
    """The same of texts as a registry has them."""
    return linked_schema(json.loads(text), (json.loads(dependency.text) for dependency in dependencies))


def logical_type(writer: Schema) -> str:
    """The meaning that a type has beside its form; empty where it has none."""
    if not isinstance(writer, dict):
        return ""
    return str(writer.get("logicalType") or CONNECT_MEANINGS.get(str(writer.get("connect.name")), ""))


def type_name(writer: Schema) -> str:
    """The name of the type that a schema is."""
    name: str = writer["type"] if isinstance(writer, dict) else writer
    return name


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def shown_schema(writer: Schema) -> str:
    """The type in few words."""
    if not isinstance(writer, dict):
        return f"{writer}" if isinstance(writer, str) else "a union"
    words = [str(writer["type"]), logical_type(writer) or str(writer.get("name") or "")]
    digits = f"({writer['precision']}, {writer.get('scale', 0)})" if "precision" in writer else ""
    return " ".join(filter(None, words)) + digits
