"""Random Avro schemas with records of them, and the columns and the later schema that these are read by.

What is expected comes from fastavro, which reads each record by both schemas.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
from hypothesis import strategies as st

Schema = Any


@dataclass(frozen=True, slots=True)
class AvroKind:
    """A type as it is written, a later one that it is read by, the column of that, and values."""

    written: Schema
    read: Schema
    column: str
    values: st.SearchStrategy[Any]


@dataclass(frozen=True, slots=True)
class Evolution:
    """Records of a schema, and how a later reader has its fields."""

    written: Schema
    read: Schema
    columns: str
    rows: list[dict[str, Any]]

    @property
    def values(self) -> list[bytes]:
        """The rows as another implementation writes them."""
        return [record_bytes(self.written, row) for row in self.rows]


def record_bytes(schema: Schema, row: Mapping[str, Any]) -> bytes:
    """A record as another implementation writes it."""
    value = BytesIO()
    fastavro.schemaless_writer(value, fastavro.parse_schema(schema), row)
    return value.getvalue()


_INTS = st.integers(-(2**31), 2**31 - 1)
_LONGS = st.integers(-(2**63), 2**63 - 1)
_DOUBLES = st.floats(allow_nan=False)
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
_TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001
_MICROS = {"type": "long", "logicalType": "timestamp-micros"}
_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
_SYMBOLS = ("RED", "GREEN", "BLUE")
_DECIMALS = st.integers(-(10**9) + 1, 10**9 - 1).map(lambda number: Decimal(number).scaleb(-2))


def _milliseconds(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _simple(number: int) -> list[AvroKind]:
    """The types without parts; those that have names have others in each field."""
    digits = {"logicalType": "decimal", "precision": 9, "scale": 2}
    fixed = {"type": "fixed", "name": f"Fixed{number}", "size": 3}
    money = {"type": "fixed", "name": f"Money{number}", "size": 5, **digits}
    colour = {"type": "enum", "name": f"Colour{number}", "symbols": [*_SYMBOLS]}
    return [
        AvroKind("int", "int", "INT", _INTS),
        AvroKind("int", "long", "BIGINT", _INTS),
        AvroKind("long", "long", "BIGINT", _LONGS),
        AvroKind("long", "double", "DOUBLE", st.integers(-(2**53), 2**53)),
        AvroKind("float", "double", "DOUBLE", st.floats(width=32, allow_nan=False)),
        AvroKind("double", "double", "DOUBLE", _DOUBLES),
        AvroKind("boolean", "boolean", "BOOLEAN", st.booleans()),
        AvroKind("string", "string", "STRING", _TEXTS),
        AvroKind("string", "bytes", "BINARY", _TEXTS),
        AvroKind("bytes", "bytes", "BINARY", st.binary(max_size=6)),
        AvroKind(fixed, fixed, "BINARY", st.binary(min_size=3, max_size=3)),
        AvroKind(colour, colour, "STRING", st.sampled_from(_SYMBOLS)),
        AvroKind(_MICROS, _MICROS, "TIMESTAMP", _TIMES),
        AvroKind(_MILLIS, _MILLIS, "TIMESTAMP", _TIMES.map(_milliseconds)),
        AvroKind(
            {"type": "int", "logicalType": "date"},
            {"type": "int", "logicalType": "date"},
            "DATE",
            st.dates(date(1, 1, 1)),
        ),
        AvroKind({"type": "bytes", **digits}, {"type": "bytes", **digits}, "DECIMAL(9,2)", _DECIMALS),
        AvroKind(money, money, "DECIMAL(12,2)", _DECIMALS),
    ]


def _nullable(kind: AvroKind) -> AvroKind:
    return AvroKind(["null", kind.written], ["null", kind.read], kind.column, st.none() | kind.values)


def _array(kind: AvroKind) -> AvroKind:
    return AvroKind(
        {"type": "array", "items": kind.written},
        {"type": "array", "items": kind.read},
        f"ARRAY<{kind.column}>",
        st.lists(kind.values, max_size=3),
    )


def _map(kind: AvroKind) -> AvroKind:
    return AvroKind(
        {"type": "map", "values": kind.written},
        {"type": "map", "values": kind.read},
        f"MAP<STRING, {kind.column}>",
        st.dictionaries(_TEXTS, kind.values, max_size=3),
    )


def _struct(kind: AvroKind, number: int) -> AvroKind:
    """A record that has lost a field and gained one."""
    name = {"type": "record", "name": f"Inner{number}", "namespace": "of.fields"}
    written = [{"name": "gone", "type": "string"}, {"name": "kept", "type": kind.written}]
    read = [{"name": "new", "type": ["null", "int"], "default": None}, {"name": "kept", "type": kind.read}]
    return AvroKind(
        {**name, "fields": written},
        {**name, "fields": read},
        f"STRUCT<new: INT, kept: {kind.column}>",
        st.fixed_dictionaries({"gone": _TEXTS, "kept": kind.values}),
    )


@st.composite
def evolutions(draw: st.DrawFn) -> Evolution:
    """A schema of some fields, of which the reader has some, in its own order, and one that is new."""
    kinds = [draw(_kind(number)) for number in range(draw(st.integers(1, 4)))]
    kept = draw(st.permutations(range(len(kinds))))[: draw(st.integers(0, len(kinds)))]
    record = {"type": "record", "name": "Row", "namespace": "of.rows"}
    fields = [{"name": f"f{number}", "type": kind.written} for number, kind in enumerate(kinds)]
    new = {"name": "extra", "type": ["null", "string"], "default": None}
    read = [new, *({"name": f"f{number}", "type": kinds[number].read} for number in kept)]
    values = st.fixed_dictionaries({f"f{number}": kind.values for number, kind in enumerate(kinds)})
    return Evolution(
        {**record, "fields": fields},
        {**record, "fields": read},
        ", ".join(["extra STRING", *(f"f{number} {kinds[number].column}" for number in kept)]),
        draw(st.lists(values, max_size=6)),
    )


@st.composite
def _kind(draw: st.DrawFn, number: int) -> AvroKind:
    kind = draw(st.sampled_from(_simple(number)))
    for shape in draw(st.lists(st.sampled_from("nams"), max_size=3, unique=True)):
        match shape:
            case "n" if not isinstance(kind.written, list):
                kind = _nullable(kind)
            case "a":
                kind = _array(kind)
            case "m":
                kind = _map(kind)
            case "s":
                kind = _struct(kind, number)
    return kind
