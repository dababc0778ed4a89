"""Spark's column types as Arrow's, without Spark: for formats that work where no session is.

The types are those that Spark itself gives to Arrow. Everything may be null, whatever the column list says: a
tombstone has null in every column. That a NOT NULL column has a value is for the format to see to.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column, parse_columns, quote

_SIMPLE = {
    "STRING": pa.string(),
    "BOOLEAN": pa.bool_(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMP_LTZ": pa.timestamp("us", "UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "TINYINT": pa.int8(),
    "BYTE": pa.int8(),
    "SMALLINT": pa.int16(),
    "SHORT": pa.int16(),
    "INT": pa.int32(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "REAL": pa.float32(),
    "DOUBLE": pa.float64(),
}
_NAMES = {kind: name for name, kind in reversed(_SIMPLE.items())}
"""The first name of each type."""
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
_TEXTS = ("CHAR", "VARCHAR")


class UnknownTypeError(ValueError):
    """A type that no format of records can carry."""


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """The Arrow schema of a column list."""
    return pa.schema([(column.name, arrow_type(column.type)) for column in columns])


def column_list(schema: pa.Schema) -> str:
    """The column list that has an Arrow schema of these types."""
    return ", ".join(f"{quote(field.name)} {spark_type(field.type)}" for field in schema)


def spark_type(kind: pa.DataType) -> str:
    """The Spark type that is carried as an Arrow type."""
    if pa.types.is_list(kind):
        return f"ARRAY<{spark_type(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"MAP<{spark_type(kind.key_type)}, {spark_type(kind.item_type)}>"
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return f"STRUCT<{', '.join(f'{quote(field.name)}: {spark_type(field.type)}' for field in fields)}>"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _NAMES[kind]


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a Spark type in the spelling that `parse_columns` gives."""
    type_name, opened, inside = text.partition("<")
    if opened:
        return _nested(type_name, inside.removesuffix(">"))
    type_name, _, numbers = text.partition("(")
    if type_name in _DECIMALS:
        digits, *decimals = [int(number) for number in numbers.rstrip(")").split(",") if number] or [10]
        return pa.decimal128(digits, *decimals)
    if type_name in _TEXTS:
        return pa.string()
    if type_name in _SIMPLE:
        return _SIMPLE[type_name]
    raise UnknownTypeError(f"{text} cannot be read from records or written to them")


def _nested(type_name: str, inside: str) -> pa.DataType:
    if type_name == "ARRAY":
        return pa.list_(pa.field("element", arrow_type(inside)))
    if type_name == "MAP":
        key, value = _parts(inside)
        return pa.map_(arrow_type(key), arrow_type(value))
    # In a struct a colon stands between name and type, in a column list a space.
    fields = [_without_colon(part) for part in _parts(inside)]
    return pa.struct(list(arrow_schema(parse_columns(", ".join(fields)))))


def _parts(text: str) -> Iterator[str]:
    """The parts between the commas that are in no bracket and no backquotes."""
    start = 0
    for place, sign in _outside(text):
        if sign == ",":
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _without_colon(field: str) -> str:
    colon = next(place for place, sign in _outside(field) if sign == ":")
    return f"{field[:colon]} {field[colon + 1 :]}"


def _outside(text: str) -> Iterator[tuple[int, str]]:
    depth, quoted = 0, False
    for place, sign in enumerate(text):
        if sign == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif sign in "<(":
            depth += 1
        elif sign in ">)":
            depth -= 1
        elif not depth:
            yield place, sign
